"""A Python target that is killed and started again, on one session folder, in one history.

The target runs in a forked child of this process, which has imported all it needs, so an attempt
costs as much as its run and no more. The child writes its history to a file before anything of a
step is carried out, and a `Kill` is SIGKILL. The parent looks at what the store kept, and forks
the next child; there the inbox hands out again what was not confirmed. Fork where no other thread
runs.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path

import msgspec

from harness.core.history.events import Answered, Stored
from harness.core.history.history import History, decode
from harness.core.scenario.scenario import Scenario
from harness.core.transition.ports import Script
from harness.core.values.errors import HarnessError, InputError
from harness.core.values.plans import Kill
from harness.runner import prepare
from harness.runner.at_hand import now_ms
from harness.runner.forked import (
    ACKNOWLEDGED,
    BROKEN,
    FIRED,
    HISTORY,
    REFUSED,
    WRITES,
    Attempt,
    Child,
    Tape,
)
from harness.runner.kept import Acknowledged
from harness.runner.prepare import End
from harness.runner.session import StoreWatch, open_reader
from harness.stores.open import OpenStore, drop_scratch, open_scratch
from harness.stores.rows import SessionStore
from harness.stores.watched import Moment
from harness.targets import TargetSpec
from harness.transports.clients import warm


class Restarts:
    """The attempts of one run: the first start, and one more after each kill, as many as
    `limits.restarts` allows. With `watched`, `writes` and `kept` tell of the store's writes."""

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
        watched: bool = False,
    ) -> None:
        self._target, self._world, self._folder = target, world, folder
        self._store, self._opener, self._watched = store, opener, watched
        self._tape = Tape()
        self._transition = prepare.transition_for(scenario, script, sink=self._tape)
        self.writes: list[str] = []
        self.kept: list[Acknowledged] = []

    @property
    def history(self) -> History:
        """The joined history of all attempts so far."""
        return self._transition.history

    def run(self, kill: tuple[int, Moment] | None = None) -> History:
        """Run to the end; the first attempt is killed at a moment of a write of the store, if one
        is given.

        Raises InputError for what the target itself refuses, HarnessError when a child breaks.
        """
        warm(self._transition.scenario.wire)
        for number in range(self._transition.scenario.limits.restarts + 1):
            with tempfile.TemporaryDirectory(prefix="loop-harness-attempt-") as out:
                if not self._is_killed(number, Path(out), None if number else kill):
                    return self.history
        self._give_up(number)
        return self.history

    def _is_killed(self, number: int, out: Path, kill: tuple[int, Moment] | None) -> bool:
        """Make an attempt, take over what it left, and say whether it was killed."""
        code = _forked(
            Attempt(
                self._transition, self._tape, self._target, self._world, self._folder, self._store,
                self._opener, number, out, self._watched, kill,
            )
        )  # fmt: skip
        self._take(out)
        if code == -signal.SIGKILL:
            self._record_kill(kill)
            return True
        if code:
            raise _broken(self._transition.scenario, out, code)
        return False

    def _take(self, out: Path) -> None:
        lines = (out / HISTORY).read_bytes()
        for event in decode(lines[: lines.rfind(b"\n") + 1]).events:
            self.history.take(event)
        for line in (out / FIRED).read_bytes().splitlines()[-1:]:
            for fault, fired in zip(
                self._transition.faults, msgspec.json.decode(line), strict=True
            ):
                fault.fired = fired
        self.writes += (out / WRITES).read_text().split()
        said = (out / ACKNOWLEDGED).read_bytes().splitlines()
        self.kept += [msgspec.json.decode(line, type=Acknowledged) for line in said]

    def _record_kill(self, kill: tuple[int, Moment] | None) -> None:
        answers = [event for event in self.history.events if isinstance(event, Answered)]
        last = next((e for e in reversed(answers) if kill or _kills(e)), None)
        where = {"session": last.session, "turn": last.turn} if last else {}
        at = f"store#{kill[0]}:{kill[1]}" if kill else last.key if last else ""
        at_ms = now_ms(self.history)
        self.history.killed(at_ms=at_ms, at=at, **where)
        self._look(at_ms)

    def _look(self, at_ms: int) -> None:
        """Record what the store kept, if it is one that was seen before."""
        if self._store:
            StoreWatch(open_reader(self._store, self._folder), self.history).look(at_ms)
        elif self._has_store:
            store = self.open()
            StoreWatch(store, self.history).look(at_ms)
            store.close()

    def _give_up(self, restarts: int) -> None:
        """The target was killed more often than it may be started again."""
        text = f"killed more often than limits.restarts = {restarts}"
        prepare.end(self._transition, End("killed", None, text), now_ms(self.history))

    @property
    def _has_store(self) -> bool:
        return any(isinstance(event, Stored) for event in self.history.events)

    def open(self) -> SessionStore:
        """The store that the harness gave to the target."""
        return self._opener(self._target.options, self._folder)

    def drop(self) -> None:
        """Remove what the store leaves outside of the session folder."""
        if self._has_store and not self._store:
            store = self.open()
            drop_scratch(store)
            store.close()


def _kills(answered: Answered) -> bool:
    return any(isinstance(step, Kill) for step in answered.steps)


def _forked(attempt: Attempt) -> int:
    """The exit status of a child that lives through an attempt; it does not outlive this call."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        Child(attempt).live()
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise


def _broken(scenario: Scenario, out: Path, code: int) -> Exception:
    """Why a child did not come to its end, as the error that it is here."""
    if (out / REFUSED).exists():
        return InputError(*msgspec.json.decode((out / REFUSED).read_bytes()))
    text = (out / BROKEN).read_text() if (out / BROKEN).exists() else f"exit status {code}"
    return HarnessError(f"a child of {scenario.run_name} broke: {text}")
