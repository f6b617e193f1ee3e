"""Runs a Python target in forked children, one for each attempt, with one session and one history.

A forked child has all imports already, so an attempt costs only its run. The parent imports
afterwards what the child imported besides. The user's own modules are left out: their state would
be that of a run. A `Kill` is SIGKILL, and the next child's inbox repeats unconfirmed messages. Fork
only in a process with one thread.

The child copies the transition and writes to files that remain after its end: events before their
steps, and fault counts. Shared memory has its marks: whether the
target plays, and how the child ends. If a child ends while its target plays, its target ended it;
otherwise the harness did.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from mmap import mmap
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from harness.core.history.events import Answered, AnyEvent, Stored
from harness.core.history.history import History, decode, encode
from harness.core.scenario.scenario import Scenario
from harness.core.transition.arming import ArmedFault
from harness.core.transition.model_seam import Kept
from harness.core.transition.ports import Script
from harness.core.values.errors import HarnessError, InputError
from harness.core.values.plans import Kill
from harness.files.owner import scratch_folder
from harness.processes import machine
from harness.processes.life_signs import LifeSigns, Overseer, end_with, tell
from harness.runner import prepare
from harness.runner.awaited_child import awaited, refusal_of, refusal_words
from harness.runner.needs import kills
from harness.runner.python_attempt import attempt, now_ms
from harness.runner.session_seed import seed_messages
from harness.runner.store_watch import OwnStore, StoreWatch
from harness.runner.work_folder import working_folder
from harness.stores.opening import (
    OpenStore,
    drop_scratch,
    open_reader,
    open_scratch,
    open_unshared,
)
from harness.stores.session_store import SessionStore
from harness.targets import End, TargetSpec, crash_trace
from harness.targets.process_exits import kill_process, make_replaceable


class Restarts:
    """The attempts of one run: the first start, and a restart after each kill.

    There are at most `limits.restarts` restarts; `transition` joins all attempts. `wrap` wraps the
    store that an attempt gives to the target.
    """

    def __init__(
        self,
        scenario: Scenario,
        target: TargetSpec,
        world: str,
        folder: Path,
        *,
        script: Script | None = None,
        store: str = "",
        opener: OpenStore = open_scratch,
        wrap: Callable[[Attempt, SessionStore], Any] | None = None,
        probes: Sequence[ArmedFault] = (),
    ) -> None:
        self.target, self.world, self.folder = target, world, folder
        self.store, self.opener, self.wrap = store, opener, wrap
        self.tape = EventSink()
        self.transition = prepare.transition_for(scenario, script, sink=self.tape, probes=probes)
        self.work: Path | None = None

    @property
    def history(self) -> History:
        """The joined history of all attempts so far."""
        return self.transition.history

    def run(self) -> History:
        """Run to the end.

        Raises InputError for an error of the user's files, HarnessError if a child breaks.
        """
        with working_folder(self.target) as self.work:
            return self._lives()

    def _lives(self) -> History:
        again = self.wrap is not None or kills(self.transition.scenario)
        prepare.warm_up(self.transition.scenario, self.target, forks=again)
        for number in range(self.transition.scenario.limits.restarts + 1):
            with scratch_folder("attempt-") as out:
                if not self._is_killed(number, out):
                    return self.history
        text = f"killed more often than limits.restarts = {number}"
        prepare.end(self.transition, End("killed", None, text), now_ms(self.history))
        return self.history

    def _is_killed(self, number: int, out: Path) -> bool:
        """Make an attempt, read its files, and return whether it was killed."""
        made = Attempt(self, number, out)
        memory_kills = machine.out_of_memory_kills()
        code, overdue = _forked(made)
        marks = made.marks
        if marks[LACK]:
            raise machine.lack(marks[LACK])
        self._take(out)
        prepare.import_all((out / IMPORTED).read_text("utf-8").split())
        if overdue:
            if self.history.trace.ended is None:
                self._end(overdue)
            return False
        if marks[KILLED]:
            kept = msgspec.msgpack.decode((out / KEPT).read_bytes(), type=list[Kept])
            self.transition.models.keep(kept)
            at_ms, _, place = (out / PLACE).read_text("utf-8").partition(" ")
            self._record_kill(place, int(at_ms or 0))
            return True
        if marks[CLOSED]:
            self._end(End("crashed", None, "the target closed files that it did not open"))
        elif not marks[TOLD] and (code or marks[IN_TARGET]):
            # What a target leaves behind, a thread or a timer, may end the process after it.
            if self.history.trace.ended is None:
                where = "in the middle of the run" if marks[IN_TARGET] else "after the target's end"
                self._record_crash(code, out, memory_kills, where)
        elif code:
            raise _broken(self.transition.scenario, out, code)
        return False

    def _record_crash(self, code: int, out: Path, memory_kills: int, where: str) -> None:
        """Record that the target has ended its process, and where in words."""
        dump = (out / FATAL).read_text("utf-8", "replace")
        frames = crash_trace.fatal_frames(dump, os.getcwd())
        error = signal.Signals(-code).name if code < 0 else "exit"
        how = f"signal {error} ended the process" if code < 0 else "the process ended"
        text = f"{how} {where}"
        if frames:
            text += f" (in {frames[-1].function})"
        status = code if code >= 0 else None
        place = crash_trace.crash_place(frames, error)
        lack = machine.killed_for_memory(memory_kills) if code == -signal.SIGKILL else None
        self._end(End("crashed", status, text, tuple(map(str, frames)), place, dump, lack))

    def _end(self, crash: End) -> None:
        at_ms = now_ms(self.history)
        self._look(at_ms)
        prepare.end(self.transition, crash, at_ms, machine.full_disk(self.folder))

    def _take(self, out: Path) -> None:
        lines = (out / HISTORY).read_bytes()
        for event in decode(lines[: lines.rfind(b"\n") + 1]).events:
            self.history.take(event)
        for line in (out / FIRED).read_bytes().splitlines()[-1:]:
            counts = msgspec.json.decode(line)
            for fault, fired in zip(self.transition.faults, counts, strict=True):
                fault.fired = fired
        self.transition.elsewhere += (out / ELSEWHERE).read_text("utf-8").splitlines()

    def _record_kill(self, place: str, killed_ms: int) -> None:
        """Record a kill. The last event was told before the wait at whose end the kill came."""
        answers = [event for event in self.history.events if isinstance(event, Answered)]
        last = next((e for e in reversed(answers) if place or _kills(e)), None)
        where = {"session": last.session, "turn": last.turn} if last else {}
        at = place or (last.key if last else "")
        at_ms = max(now_ms(self.history), killed_ms)
        self.history.killed(at_ms=at_ms, at=at, **where)
        self._look(at_ms)

    def _look(self, at_ms: int) -> None:
        """Record the store's content, if the store was seen before and outlives its process."""
        if self.store:
            StoreWatch(open_reader(self.store, self.folder), self.history).look(at_ms)
        elif self._has_store and self.opener is not open_unshared:
            store = self.open()
            StoreWatch(store, self.history).look(at_ms)
            store.close()

    @property
    def _has_store(self) -> bool:
        return any(isinstance(event, Stored) for event in self.history.events)

    def open(self) -> SessionStore:
        """Return the store that the harness gave to the target."""
        return self.opener(self.target.options, self.folder)

    def drop(self) -> None:
        """Remove the data of the store outside the session folder."""
        if self._has_store and not self.store:
            store = self.open()
            drop_scratch(store)
            store.close()


def _is_installed(name: str) -> bool:
    file = getattr(sys.modules[name], "__file__", None)
    return isinstance(file, str) and not crash_trace.is_users(file, "", "")


def _kills(answered: Answered) -> bool:
    return any(isinstance(step, Kill) for step in answered.steps)


_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGIO)
"""They wait until a child is forked. `logging` has a hook at each fork, and what a handler raises
inside a hook is printed and dropped: the interrupt would be lost. After the fork and before the
`try`, the child would go on."""


def _forked(attempt: Attempt) -> tuple[int, End | None]:
    """Return the exit status of a child that makes an attempt, and the end of one that was overdue.

    The child ends with this call."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    told, parent = LifeSigns(), os.getpid()
    held = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        with machine.own_call():
            child = os.fork()
    except BaseException:  # also what the machine lacks
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        raise
    if not child:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        end_with(parent)
        tell(told)
        attempt.live()
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        return awaited(child, Overseer(child, told), attempt.of.transition.scenario.limits.real_s)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise


def _broken(scenario: Scenario, out: Path, code: int) -> Exception:
    """Turn a child's failure into the error for this process."""
    if (out / REFUSED).exists():
        kind, *words = msgspec.json.decode((out / REFUSED).read_bytes())
        return refusal_of(kind, words)
    text = (out / BROKEN).read_text() if (out / BROKEN).exists() else f"exit status {code}"
    return HarnessError(f"a child of {scenario.run_name} broke: {text}")


HISTORY, FIRED = "history.jsonl", "fired.jsonl"
ELSEWHERE, IMPORTED, PLACE = "elsewhere", "imported", "place"
"""The files of a child that are written line by line."""

KEPT = "kept"
"""What the providers keep of conversations when the child is killed."""

FATAL, BROKEN, REFUSED = "fatal", "broken", "refused.json"
"""The stack of a fatal error; why a child has no end: the harness failed, or the user's files have
an error."""

IN_TARGET, KILLED, CLOSED, TOLD, LACK, MARKS = range(6)
"""The marks of a child, a byte each, and their number. The target plays; a kill was carried out;
the target has closed the harness's files; a file says why the child has no end; the `errno` of a
call that shows what the machine lacks. They are in memory, for a full disk takes no file."""


class EventSink:
    """Receives the events of a history; it drops them until a child sets its file."""

    def __init__(self) -> None:
        self.record: Callable[[AnyEvent], None] = lambda event: None

    def __call__(self, event: AnyEvent) -> None:
        """Record an event."""
        self.record(event)


@dataclass
class Attempt:
    """An attempt of a run: `out` is the folder for its files, and `marks` are its marks.

    The forked child calls `live`, and does not return into the parent's code.
    """

    of: Restarts
    number: int
    out: Path

    def __post_init__(self) -> None:
        self.marks, self._pid = mmap(-1, MARKS), os.getpid()
        for name in (HISTORY, FIRED, ELSEWHERE, IMPORTED, PLACE, FATAL):
            self._write(name, b"")

    def _write(self, name: str, data: bytes) -> None:
        """Append to a file that is opened each time, because a target may close open files.

        A child that the target forks writes nothing: its events would mix with the target's.
        """
        if os.getpid() != self._pid:
            return
        file = os.open(self.out / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, data)
        finally:
            os.close(file)

    def live(self) -> NoReturn:
        """Run the target, and end the process in any case."""
        status, self._pid = 1, os.getpid()
        try:
            make_replaceable(self._in_target)
            try:
                self._dump = os.open(self.out / FATAL, os.O_WRONLY)
                faulthandler.enable(self._dump)
                self._run()
                if self._is_closed():
                    raise OSError("the target has closed the files of the harness")
                status = 0
            except BaseException as error:
                self._tell(error)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)

    def _tell(self, error: BaseException) -> None:
        """Leave word of an error that the target's end does not tell."""
        if found := machine.lack_of(error):
            self.marks[LACK] = found.number
        elif isinstance(error, InputError):
            self._mark(TOLD)
            (self.out / REFUSED).write_bytes(msgspec.json.encode(refusal_words(error)))
        elif self._is_closed():
            self._mark(CLOSED)
        else:
            self._mark(TOLD)
            (self.out / BROKEN).write_text(traceback.format_exc())

    def _is_closed(self) -> bool:
        """Whether a file of the harness is closed; only the target can have closed it."""
        try:
            os.fstat(self._dump)
        except OSError:
            return True
        return False

    def _run(self) -> None:
        of, transition, known = self.of, self.of.transition, set(sys.modules)
        of.tape.record = self._record
        own = OwnStore(
            transition, of.folder, seed_messages(transition.scenario), of.target.options,
            wrap=partial(of.wrap, self) if of.wrap else None, opener=of.opener,
        )  # fmt: skip
        attempt(
            transition, of.target, of.world, of.folder, own,
            store=of.store, number=self.number, on_kill=self.die, work=of.work,
        )  # fmt: skip
        self._write(ELSEWHERE, "\n".join(transition.elsewhere).encode("utf-8", "replace"))
        own.close(keep=True)
        new = [name for name in list(sys.modules) if name not in known and _is_installed(name)]
        self._write(IMPORTED, "\n".join(new).encode("utf-8", "replace"))

    def _mark(self, place: int, value: int = 1) -> None:
        if os.getpid() == self._pid:
            self.marks[place] = value

    def _in_target(self, is_playing: bool) -> None:
        self._mark(IN_TARGET, is_playing)
        if is_playing and self.of.work is not None:
            os.chdir(self.of.work)  # the guard has seen the user's folder, and returns to it

    def die(self, place: str = "", at_ms: int = 0) -> None:
        """End the process as a kill does, and tell where and when."""
        self._mark(KILLED)
        self._write(KEPT, msgspec.msgpack.encode(self.of.transition.models.kept()))
        self._write(PLACE, f"{at_ms} {place}".encode())
        self._write_fired()
        kill_process()

    def _record(self, event: AnyEvent) -> None:
        try:
            self._write(HISTORY, encode((event,)))
        except OSError as error:  # the target may catch it, and the history has a gap from here on
            if found := machine.lack_of(error):
                self._mark(LACK, found.number)
            raise
        if isinstance(event, Answered) and event.faults:
            self._write_fired()

    def _write_fired(self) -> None:
        fired = [fault.fired for fault in self.of.transition.faults]
        self._write(FIRED, msgspec.json.encode(fired) + b"\n")
