"""All that waits for virtual time: threads that sleep, event loops with timers, calls at a seam.

The clock moves only when every thread of the run waits, for time, for the harness or for another
thread. One of those that wait leads: it looks at the other threads, moves the clock to the earliest
end, and wakes who waits for it. At one moment calls at the seams come first, in the order of what
they say; then event loops; then sleepers, in an order that the seed draws. `choices`, where a run
names orders, may let another one of that line go first.

A daemon thread may wait for the outside until the end (a reader of a pipe). So all of them together
hold the clock for `GRACE_S` of a run. Any other thread gets `PATIENCE_S` without news, each time.
"""

from __future__ import annotations

import itertools
import sys
import threading
from _thread import _count as started_threads
from _thread import allocate_lock
from collections.abc import Callable, Collection, Iterator
from concurrent.futures.thread import _WorkItem
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import blake2b
from types import FrameType
from typing import Any

from harness.clock.choices import Choices
from harness.clock.meter import REAL_WAIT_LIMIT_S, Patience, RealWaitMeter
from harness.clock.real_clock import Source, real_sleep
from harness.core.values.errors import RunStopped
from harness.processes.thread_states import RunThreads

PATIENCE_S = REAL_WAIT_LIMIT_S * 1.25
"""Longer than the real wait that makes a run unknown, so that a time-out after it never counts as
a fact about the agent."""

GRACE_S = REAL_WAIT_LIMIT_S / 2

CHECK_S = 0.25
"""The interval, in seconds, at which a wait looks whether its run is over."""

PAUSE_S, PAUSE_MOST_S = 0.0002, 0.01
"""The pauses between two looks at the threads that work; each is twice the one before."""

TURN_S = 1.0
"""The longest real time for which a call at a seam waits for threads that work."""

IDLE_S = 5.0
"""How long a wait rests between two runs. An event loop in a thread may serve the next run too."""

ENDING_LOOKS = 20
"""How often, 1 ms apart, the end of a run looks whether the threads that it stopped have ended."""

YIELDS = 20
"""The number of `sleep(0)` in which nothing else happens, after which time passes."""

CALL, LOOP, SLEEP, YIELD = range(4)

LABEL_MOST = 60
"""The letters of a label. A worker is named after all arguments of its call."""


class Wait:
    """A thread that waits on the clock; `until_us` is None where only news ends the wait.

    `kind` and `name` order the waits of one moment; `label` is what a person reads of it.
    """

    can_lead = True

    def __init__(
        self, kind: int, until_us: int | None, source: Source, name: str = "", label: str = ""
    ) -> None:
        self.kind, self.until_us, self.source, self.name = kind, until_us, source, name
        self.label, self.worker = (label or name)[:LABEL_MOST], name if kind == SLEEP else ""
        self.thread, self.task = threading.get_ident(), threading.get_native_id()
        self.woken = self.stopped = False
        self._bell = allocate_lock()
        self._bell.acquire()

    @property
    def is_over(self) -> bool:
        """Whether the thread goes on."""
        return self.woken

    def rest(self, real_s: float) -> None:
        """Really wait, until somebody pokes."""
        self._bell.acquire(timeout=real_s)

    def poke(self) -> None:
        """End the real wait, from any thread."""
        if self._bell.locked():
            self._bell.release()

    def holds(self) -> bool:
        """Whether the clock stands still for what this thread waits for really."""
        return False

    def check(self) -> None:
        """Raise RunStopped if the run is over."""

    def pool(self) -> Collection[int] | None:
        """The threads, by identity, whose sleep alone moves the clock; None for all."""
        return None


class NewsWait(Wait):
    """A thread that waits for an event of the run, or for a moment.

    If nothing else can happen it gives in: no other wait of the run would ever end.
    """

    def __init__(self, until_us: int | None) -> None:
        super().__init__(CALL, until_us, "transport", label="inbox")
        self.gave_in = False

    def end(self) -> None:
        """End the wait: there is news."""
        self.woken = True
        self.poke()


class Timekeeper:
    """The waits of one clock. `move` moves it to a moment, and raises RunStopped past its limit.

    `reaches` tells whether a moment is within the limit. Without a seed, sleepers that wake at one
    moment wake in the order of their names.
    """

    def __init__(
        self,
        move: Callable[[int, Source], None],
        reaches: Callable[[int], bool],
        seed: int | None,
        choices: Choices | None = None,
    ) -> None:
        self.choices = choices
        self._move, self._reaches, self._seed = move, reaches, seed
        self._lock = threading.Lock()
        self._waits: list[Wait] = []
        self._leader: Wait | None = None
        self._running = self._yields = 0
        self._grace_s, self._meter = GRACE_S, RealWaitMeter()
        self.why = "the run of this thread was stopped"
        self.alone: tuple[object, ...] = ()
        self._numbers: dict[int | None, int] = {}
        self.jobs = itertools.count()
        self.threads = RunThreads()
        self.own_time: Callable[[], AbstractContextManager[None]] = nullcontext

    def is_alone(self) -> bool:
        """Whether the calling thread is the only one of the run, or no run is under way."""
        if not self._running:
            return True
        # The number of threads does not tell: it stays the same where one of an earlier run ends as
        # the run starts one. Then the clock moved to the guard of a tool that was not called yet.
        seen = threading.get_ident(), started_threads(), *threading.enumerate()
        if seen == self.alone:
            return True
        if self.threads.others():
            return False
        self.alone = seen
        return True

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the clock move by itself in this block only."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    def wait(self, one: Wait, most_s: float | None = None) -> None:
        """Stop the calling thread until the clock reaches the end of the wait, or it has news.

        Gives up after `most_s` of real time. Raises RunStopped if the run is stopped.
        """
        patience = None if most_s is None else Patience(most_s)
        pause_s = PAUSE_S
        self.enter(one)
        try:
            while not one.is_over:
                one.check()
                if patience is not None and patience.is_over:
                    break
                pause_s = self._step(one, pause_s)
        finally:
            self.leave(one)
        if one.stopped:
            raise RunStopped(self.why)

    def enter(self, one: Wait) -> None:
        """Begin a wait."""
        with self._lock:
            if one not in self._waits:
                self._waits.append(one)

    def leave(self, one: Wait) -> None:
        """End a wait; another thread leads if this one did."""
        with self._lock:
            if one in self._waits:
                self._waits.remove(one)
        self.hand_over(one)

    def hand_over(self, one: Wait) -> None:
        """Let another wait lead, if this one does."""
        with self._lock:
            if self._leader is one:
                self._leader = None
                for other in self._waits:
                    if other is not one and other.can_lead:
                        other.poke()
                        break

    def _step(self, one: Wait, pause_s: float) -> float:
        """Wait really for a moment, or move the clock; return the next pause."""
        if not self._running:
            one.rest(IDLE_S)
            return PAUSE_S
        if not self.leads(one):
            one.rest(CHECK_S)
            return PAUSE_S
        doing = self.doing()
        one.rest(0)  # a thread may have left news before it began to wait
        if one.is_over:
            return PAUSE_S
        if doing == "waits":
            if not self.pass_time():
                one.rest(min(pause_s, CHECK_S))
                return pause_s * 2
            return PAUSE_S
        pause_s = min(pause_s, PAUSE_MOST_S)
        with self.own_time() if doing == "disk" else nullcontext():
            one.rest(pause_s)
        return pause_s * 2

    def leads(self, one: Wait) -> bool:
        """Whether this wait looks after the clock."""
        with self._lock:
            if self._leader is None:
                self._leader = one
            return self._leader is one

    def doing(self) -> str:
        """What the other threads of the run do."""
        with self._lock:
            waits = list(self._waits)
        # One that was woken may not run yet.
        if any(wait.woken or wait.holds() for wait in waits):
            return "works"
        doing = self.threads.doing(self._pause)
        if doing == "waits" and self._is_outside({wait.task for wait in waits}):
            return "works"
        return doing

    def _pause(self) -> None:
        # No `rest`: one that was poked before returns at once, and keeps the interpreter's lock.
        with self.own_time():
            real_sleep(PAUSE_S)

    def _is_outside(self, waiting: set[int]) -> bool:
        """Whether a thread may still get what it waits for from outside."""
        outside = self.threads.outside() - waiting
        if not outside:
            self._meter = RealWaitMeter()
            return False
        waited_s = self._meter.waited_s
        foreground = {t.native_id for t in threading.enumerate() if not t.daemon}
        if outside & foreground:
            return waited_s < PATIENCE_S
        if waited_s < self._grace_s:
            return True
        self._grace_s = 0.0
        return False

    def pass_time(self) -> bool:
        """Move the clock to the earliest end, and wake who waits for it; False without one."""
        with self._lock:
            if not self._running:
                return False
            if (first := self._first()) is None:
                return self._give_in()
            assert first.until_us is not None
            given_up = first.source == "transport" and self._is_closing()
            if given_up and not self._reaches(first.until_us):
                # After the end of the agent, a tool that hangs past the limit does not delay it.
                first.stopped = True
            else:
                try:
                    self._move(first.until_us, first.source)
                except RunStopped as limit:
                    self.why = str(limit)
                    self._stop(loops=True)
                    return True
            first.woken = True
            self._meter = RealWaitMeter()
            first.poke()
        return True

    def _give_in(self) -> bool:
        """End the wait of a reader, where no other one has an end; False without a reader."""
        for wait in self._waits:
            if isinstance(wait, NewsWait) and not wait.woken:
                wait.gave_in = True
                wait.end()
                return True
        return False

    def _is_closing(self) -> bool:
        return any(wait.pool() is not None for wait in self._waits)

    def _first(self) -> Wait | None:
        """The wait that ends next."""
        pools = [pool for wait in self._waits if (pool := wait.pool()) is not None]
        due = [
            wait
            for wait in self._waits
            if wait.until_us is not None
            and not wait.woken
            and (not pools or any(wait.thread in pool for pool in pools))
        ]
        others = [wait for wait in due if wait.kind != YIELD]
        if others and self._yields >= YIELDS:
            due = others
        first = min(due, key=self._place, default=None)
        if self.choices is not None and first is not None and first.kind != YIELD:
            at_once = [w for w in due if w.until_us == first.until_us and w.kind != YIELD]
            first = self.choices.chosen(sorted(at_once, key=self._place))
        self._yields = self._yields + 1 if first and first.kind == YIELD else 0
        return first

    def _place(self, wait: Wait) -> tuple[int, int, str, str]:
        drawn = ""
        if self.choices is not None and wait.kind == SLEEP:
            drawn = f"{self.choices.served(wait.worker):09}"
        elif self._seed is not None and wait.kind == SLEEP:
            text = f"{self._seed}\x1f{wait.until_us}\x1f{wait.name}"
            drawn = blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()
        assert wait.until_us is not None
        return wait.until_us, wait.kind, drawn, wait.name

    def stop(self) -> None:
        """End the waits of threads with RunStopped; a thread that outlives its run ends there."""
        with self._lock:
            self._stop(loops=False)
        for _ in range(ENDING_LOOKS):
            if all(wait.kind == LOOP for wait in self._waits):
                return
            real_sleep(0.001)  # so that they end inside the run, which knows why

    def _stop(self, *, loops: bool) -> None:
        for wait in self._waits:
            if not wait.woken and (loops or wait.kind != LOOP):
                wait.woken = wait.stopped = True
                wait.poke()

    def name_of_thread(self) -> str:
        """What tells the calling thread from the others of its run, alike in each run.

        A worker of a pool takes whichever call comes first. So it is named after the call. Any
        other thread is named after its place in the order of their starts.
        """
        if (number := getattr(JOB, "number", None)) is not None:
            return f"job {number:09}"
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code is _WORK and (item := frame.f_locals.get("self")) is not None:
                return f"call {_said(getattr(item, 'task', None) or vars(item))}"
            frame = frame.f_back
        with self._lock:
            own = {*self.threads.others(), threading.get_native_id()}
            for thread in threading.enumerate():
                if thread.native_id in own:
                    self._numbers.setdefault(thread.native_id, len(self._numbers))
            return f"thread {self._numbers.get(threading.get_native_id(), 0):06}"


JOB = threading.local()
"""Its `number` is that of the job that an event loop gave to the calling thread."""

_WORK = _WorkItem.run.__code__
_DEEPEST = 4


def _said(value: Any, deep: int = 0) -> str:
    """The plain values in the arguments of a call; the address of an object is left out."""
    if value is None or isinstance(value, str | bytes | int | float):
        return f"{value!r:.200}"
    if deep == _DEEPEST:
        return ""
    if isinstance(value, dict):
        parts = [f"{_said(key, deep)}: {_said(part, deep + 1)}" for key, part in value.items()]
        return ", ".join(sorted(parts))
    if isinstance(value, list | tuple):
        return ", ".join(_said(part, deep + 1) for part in value)
    func, args = getattr(value, "func", None), getattr(value, "args", None)
    if func is not None and args is not None:  # functools.partial
        return _said((func, args, getattr(value, "keywords", None)), deep)
    return str(getattr(value, "__qualname__", type(value).__qualname__))
