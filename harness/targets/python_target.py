"""A Python target: the agent's function, called in this process until its end or a limit.

In simulate, waits pass at once and are recorded, and the target's own sockets are refused and
reported. A watchdog stops a target that blocks or does not end.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import selectors
import signal
import threading
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from harness.clock import (
    RealWaitMeter,
    VirtualClock,
    run_async,
    run_trio,
    virtual_event_loops,
    virtual_time,
)
from harness.core.scenario.scenario import Limits
from harness.core.values.errors import (
    InputError,
    Interrupted,
    MachineLacks,
    PassedLimit,
    RunStopped,
    nearest,
)
from harness.processes.life_signs import playing
from harness.processes.machine import lack_of
from harness.targets import crash_trace
from harness.targets.process_exits import ProcessExit, ProcessGuard
from harness.targets.spec import End, passed_limit
from harness.targets.watchdog import Check, Seams, watched
from harness.transports.live_sockets import live_sockets
from harness.transports.python_calls import ScriptedInterrupt

BACKENDS = ("asyncio", "trio")
"""The values of the option `backend` of an asynchronous agent; anyio runs on either."""

LOOK_S = 0.25
"""How often an event loop outside the main thread checks whether its run is over."""


class Simulated(NamedTuple):
    """A simulated run: how it ended, and what the target did outside the seams.

    `real_wait_ms` is 0 within the allowance, because equal runs wait for slightly different times.
    """

    end: End
    at_ms: int
    real_wait_ms: int
    live_sockets: tuple[str, ...]


def simulate(
    agent: Callable[..., Any],
    brief: Any,
    clock: VirtualClock,
    meter: RealWaitMeter,
    *,
    seed: int,
    limits: Limits,
    seams: Seams,
) -> Simulated:
    """Run an agent on virtual time until it ends, crashes or reaches a limit."""
    with live_sockets() as sockets, _seeded(seed), meter:
        end = ending(lambda check: _call(agent, brief, clock, check), limits, seams, agent)
    waited_ms = int(meter.waited_s * 1000) if meter.exceeded else 0
    return Simulated(end, clock.now_ms(), waited_ms, tuple(sockets))


def _call(agent: Callable[..., Any], brief: Any, clock: VirtualClock, check: Check) -> None:
    with virtual_time(clock):
        with virtual_event_loops(clock, check=check):
            result = agent(brief)
        if inspect.isawaitable(result):
            if _backend(brief, result) == "trio":
                run_trio(lambda: _awaited(result), clock)
            else:
                run_async(lambda: _awaited(result), clock, check=check)


def live(agent: Callable[..., Any], brief: Any, *, seed: int, limits: Limits, seams: Seams) -> End:
    """Run an agent in this process in real time."""
    with _seeded(seed):
        return ending(lambda check: _call_live(agent, brief, check), limits, seams, agent)


def _call_live(agent: Callable[..., Any], brief: Any, check: Check) -> None:
    result = agent(brief)
    if inspect.isawaitable(result):
        if _backend(brief, result) == "trio":
            run_trio(lambda: _awaited(result))
        else:
            _run_live(_awaited(result), check)


def _run_live(main: Coroutine[Any, Any, Any], check: Check) -> None:
    if threading.current_thread() is threading.main_thread():
        asyncio.run(main)
        return
    # No signal reaches this thread, so its loop wakes up to check.
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_Looking(check))) as runner:
        runner.run(main)


class _Looking(selectors.DefaultSelector):
    """A selector that calls `check` at least every `LOOK_S` seconds."""

    def __init__(self, check: Check) -> None:
        super().__init__()
        self._check = check

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(LOOK_S if timeout is None else min(timeout, LOOK_S))
        self._check()
        return events


def _backend(brief: Any, result: Any) -> str:
    backend = str(brief.options.get("backend", "asyncio"))
    if backend not in BACKENDS:
        if inspect.iscoroutine(result):
            result.close()
        raise InputError(f"no backend {backend!r}; {nearest(backend, BACKENDS)}", "target")
    return backend


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the global generator, from which SDKs draw their jitter."""
    former = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(former)


def ending(
    call: Callable[[Check], Any],
    limits: Limits,
    seams: Seams,
    agent: Callable[..., Any] | None = None,
) -> End:
    """Call a target, and return how it ended; only Ctrl-C and errors of the user's files pass.

    A refused call that would end or replace the process counts even if the target catches it.
    """
    with playing(limits.real_s):
        with ProcessGuard() as guard:
            waits: list[str] = []
            end, error = _ended(call, limits, seams, waits)
        if guard.refused and not isinstance(error, ProcessExit):
            end, error = End("crashed"), guard.refused[0]
        if error is not None:
            end = _told(end, error, agent, guard.state.folder, limits, seams)
            if guard.state.is_limited:  # the target itself has lowered the limit of open files
                end = end._replace(lack=None)
    return end._replace(open_waits=tuple(waits))


def _told(
    end: End,
    error: BaseException,
    agent: Callable[..., Any] | None,
    folder: str,
    limits: Limits,
    seams: Seams,
) -> End:
    """Return the end with its exception; the limits hold, because its text is the target's code."""
    try:
        with ProcessGuard(), watched(limits.real_s, limits.memory_mb, seams):
            return _crashed(end, error, agent, folder)
    except PassedLimit:
        name = type(error).__name__
        return End("crashed", text=f"{name}: (its text takes longer than limits.real_s)")


def _ended(
    call: Callable[[Check], Any], limits: Limits, seams: Seams, waits: list[str]
) -> tuple[End, BaseException | None]:
    """Return how a call ended, with the exception of a crash."""
    try:
        with watched(limits.real_s, limits.memory_mb, seams, waits) as check:
            call(check)
    except PassedLimit as passed:
        return passed_limit(passed.stop, str(passed)), None
    except RunStopped as stopped:  # a call that the agent made after the run was over
        return End("limit", None, str(stopped)), None
    except ScriptedInterrupt as error:
        return End("crashed"), error
    except (Interrupted, InputError, MachineLacks):
        raise
    except KeyboardInterrupt as error:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            raise  # it may be Ctrl-C
        return End("crashed"), error
    except SystemExit as left:
        return (End("returned", 0), None) if left.code in (None, 0) else (End("crashed"), left)
    except BaseException as error:
        return End("crashed"), error
    return End("returned", 0), None


def _crashed(end: End, error: BaseException, agent: Callable[..., Any] | None, folder: str) -> End:
    """Return the end with the exception and the user's frames."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    frames = crash_trace.user_frames(error.__traceback__, agent, folder)
    where = frames[-1].function if frames else _innermost(error)
    words = " ".join(_words(error).split())[:500]
    text = words if isinstance(error, ProcessExit) else f"{type(error).__name__}: {words}"
    return End(
        end.how,
        _status(error) if isinstance(error, SystemExit) else end.exit_code,
        f"{text} (in {where})" if where else text,
        frames=tuple(map(str, frames)),
        place=crash_trace.crash_place(frames, type(error).__name__),
        traceback=crash_trace.whole(error),
        lack=lack_of(error),
    )


def _status(left: SystemExit) -> int:
    if left.code is None:
        return 0
    return left.code if isinstance(left.code, int) else 1


def _innermost(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].name if frames else ""


def _words(error: BaseException) -> str:
    """Return the text of an error. It is the target's code: it may raise anything, too."""
    try:
        return str.__str__(str(error))  # a subclass of str may have methods of its own
    except (RunStopped, Interrupted):
        raise
    except BaseException as raised:
        is_ctrl_c = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if isinstance(raised, KeyboardInterrupt) and is_ctrl_c:
            raise
        return "(its text raises, too)"
