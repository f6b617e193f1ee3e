"""trio in virtual time, by trio's public clock interface.

trio asks its clock only when no task is ready; there time jumps to the next deadline. It stands
still while a thread or socket works, up to `PATIENCE_S` of real waiting without news. trio treats
an exception from a clock as a defect of trio. So a limit cancels the program, and is raised after
its end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from harness.clock.event_loop import PATIENCE_S
from harness.clock.meter import RealWaitMeter
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

    try:
        result = trio.run(bounded, clock=virtual_trio_clock(clock, on_limit=stop))
    except trio.TrioInternalError as error:
        if isinstance(error.__cause__, RunStopped):  # of real time, by a signal in trio's code
            raise error.__cause__ from None
        raise
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

    class JumpingClock(trio.abc.Clock):
        standing: RealWaitMeter | None = None
        reached: float = 0.0

        def start_clock(self) -> None:
            self.standing = None

        def current_time(self) -> float:
            # A deadline can be a fraction of a microsecond later than its whole microsecond.
            return max(self.reached, clock.monotonic())

        def deadline_to_sleep_time(self, deadline: float) -> float:
            due_us = clock.moment_us(deadline)
            if due_us is None or deadline <= self.current_time():
                return deadline - self.current_time()
            if _under_way() and not self.patience_is_over():
                self.standing = RealWaitMeter()
                return PATIENCE_S
            self.standing = None
            try:
                clock.pass_until(due_us, "loop")
            except RunStopped as error:
                on_limit(error)
            else:
                self.reached = deadline
            return 0

        def patience_is_over(self) -> bool:
            return self.standing is not None and self.standing.waited_s >= PATIENCE_S

    return JumpingClock()


def _under_way() -> bool:
    trio = _trio()
    files = trio.lowlevel.current_statistics().io_statistics
    waiting: int = getattr(files, "tasks_waiting_read", 0)
    waiting += getattr(files, "tasks_waiting_write", 0)
    own_wake_up = 1
    threads = trio.to_thread.current_default_thread_limiter().borrowed_tokens
    return bool(threads > 0 or waiting > own_wake_up)
