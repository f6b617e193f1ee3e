"""trio in virtual time, by trio's public clock interface.

trio asks its clock only when no task is ready; there time jumps to the next deadline. It stands
still while a socket works, up to `PATIENCE_S` of real waiting without news. Beside threads trio
looks again and again while it leads, because their waits may end before its deadline; else it
rests until another wait pokes it. trio treats an exception from a clock as a defect of trio. So a
limit cancels the program, and is raised after its end.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from harness.clock.meter import RealWaitMeter
from harness.clock.timekeeper import CHECK_S, LOOP, PATIENCE_S, Wait
from harness.clock.virtual_clock import VirtualClock
from harness.core.values.errors import PackageMissing, RunStopped

if TYPE_CHECKING:
    import trio.abc

T = TypeVar("T")


def run_trio(main: Callable[[], Awaitable[T]], clock: VirtualClock | None = None) -> T:
    """Run the asynchronous function `main` to its end under trio, in virtual time if there is a
    clock.

    Raises the exceptions of `main`, RunStopped at a limit, and InputError without trio.
    """
    trio = _trio()
    if clock is None:
        return trio.run(main)  # type: ignore[no-any-return]
    stopped: list[RunStopped] = []
    scope = trio.CancelScope()

    def stop(error: RunStopped) -> None:
        stopped.append(error)
        trio.lowlevel.current_trio_token().run_sync_soon(scope.cancel)

    async def bounded() -> Any:
        with scope:
            return await main()

    jumping = virtual_trio_clock(clock, on_limit=stop)
    try:
        with clock.keeper.running():
            result = trio.run(bounded, clock=jumping)
    except trio.TrioInternalError as error:
        if isinstance(error.__cause__, RunStopped):  # of real time, by a signal in trio's code
            raise error.__cause__ from None
        raise
    finally:
        jumping.beside.leave()  # type: ignore[attr-defined]
    if stopped:
        raise stopped[0]
    return result  # type: ignore[no-any-return]


def _trio() -> Any:
    try:
        import trio
    except ImportError as error:
        raise PackageMissing("trio", "trio", "backend=trio", "target") from error
    return trio


def _raised(error: RunStopped) -> None:
    raise error


def virtual_trio_clock(
    clock: VirtualClock, *, on_limit: Callable[[RunStopped], None] = _raised
) -> trio.abc.Clock:
    """A clock for `trio.run(main, clock=...)`. Raises ImportError without trio.

    `on_limit` gets the exception of the clock if a wait would exceed its limit.
    """
    import trio

    class JumpingClock(_Jumps, trio.abc.Clock):
        """The answers, as trio asks for them."""

    return JumpingClock(clock, on_limit)


class _Jumps:
    """The answers of the clock."""

    def __init__(self, clock: VirtualClock, on_limit: Callable[[RunStopped], None]) -> None:
        self._clock, self._on_limit = clock, on_limit
        self.standing: RealWaitMeter | None = None
        self.reached = 0.0
        self.beside = _BesideThreads(clock)

    def start_clock(self) -> None:
        self.standing = None

    def current_time(self) -> float:
        # A deadline can be a fraction of a microsecond later than its whole microsecond.
        return max(self.reached, self._clock.monotonic())

    def deadline_to_sleep_time(self, deadline: float) -> float:
        due_us = self._clock.moment_us(deadline)
        if deadline <= self.current_time():
            return deadline - self.current_time()
        if not self._clock.keeper.is_alone():
            return self.beside_threads(deadline, due_us)
        if due_us is None:
            return deadline
        if _under_way() and not self.patience_is_over():
            self.standing = RealWaitMeter()
            return PATIENCE_S
        self.standing = None
        try:
            self._clock.pass_until(due_us, "loop")
        except RunStopped as error:
            self._on_limit(error)
        else:
            self.reached = deadline
        return 0

    def beside_threads(self, deadline: float, due_us: int | None) -> float:
        try:
            pause_s = self.beside.pause_s(due_us)
        except RunStopped as error:
            self._on_limit(error)
            return 0
        if not pause_s:
            self.reached = deadline
        return pause_s

    def patience_is_over(self) -> bool:
        return self.standing is not None and self.standing.waited_s >= PATIENCE_S


LOOK_S = 0.001
"""The pause between two looks at the threads beside trio, while it leads."""


class _BesideThreads:
    """The wait of trio beside threads. trio rests by itself, so it leads only during a look."""

    def __init__(self, clock: VirtualClock) -> None:
        self._keeper = clock.keeper
        self._wait: _TrioWait | None = None

    def pause_s(self, due_us: int | None) -> float:
        """Return the pause until the next look, 0 at the deadline. Raises RunStopped at a limit."""
        keeper = self._keeper
        if (wait := self._wait) is None or wait.woken or wait.until_us != due_us:
            self.leave()
            wait = self._wait = _TrioWait(due_us)
            keeper.enter(wait)
        # Without the lead trio must not look: a thread that gets a processor each millisecond
        # counts as one that works. On a busy machine no call beside it got its turn for 1 s.
        pause_s = CHECK_S
        if keeper.leads(wait):
            if keeper.doing() == "waits" and not _has_news():
                keeper.pass_time()
            keeper.hand_over(wait)
            pause_s = LOOK_S
        if not wait.woken:
            return pause_s
        self.leave()
        if wait.stopped:
            raise RunStopped(keeper.why)
        return 0

    def leave(self) -> None:
        """End the wait, because trio goes on or ends."""
        if self._wait is not None:
            self._keeper.leave(self._wait)
            self._wait = None


class _TrioWait(Wait):
    """trio without a ready task."""

    def __init__(self, until_us: int | None) -> None:
        super().__init__(LOOP, until_us, "loop")
        self._token = _trio().lowlevel.current_trio_token()

    def poke(self) -> None:
        """End the rest of trio, from any thread."""
        with suppress(_trio().RunFinishedError):
            self._token.run_sync_soon(_nothing, idempotent=True)

    def holds(self) -> bool:
        return self.thread == threading.get_ident() and _reads()


def _nothing() -> None:
    """What trio is woken for."""


def _under_way() -> bool:
    threads = _trio().to_thread.current_default_thread_limiter().borrowed_tokens
    return bool(threads > 0 or _reads())


def _has_news() -> bool:
    """Whether a thread has left a result that trio has not taken yet."""
    return bool(_trio().lowlevel.current_statistics().run_sync_soon_queue_size)


def _reads() -> bool:
    trio = _trio()
    files = trio.lowlevel.current_statistics().io_statistics
    waiting: int = getattr(files, "tasks_waiting_read", 0)
    waiting += getattr(files, "tasks_waiting_write", 0)
    own_wake_up = 1
    return bool(waiting > own_wake_up)
