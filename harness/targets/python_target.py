"""A Python target: the agent's function, called in this process until its end or a limit.

In simulate, waits pass at once and are recorded, and a socket of its own is refused and reported. A
target without end stops at `limits.real_s`. In the main thread a timer signal also ends a blocking
system call; elsewhere an exception put into the thread ends only a loop.
"""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import random
import signal
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from harness.clock import (
    RealWaitMeter,
    VirtualClock,
    real_monotonic,
    run_async,
    run_trio,
    virtual_event_loops,
    virtual_time,
)
from harness.core.values.errors import InputError, RunStopped, nearest
from harness.targets import crash_trace
from harness.targets.process_exits import ProcessExit, ProcessGuard
from harness.targets.spec import End
from harness.transports.live_sockets import live_sockets
from harness.transports.python_calls import ScriptedInterrupt

BACKENDS = ("asyncio", "trio")
"""What the option `backend` of an asynchronous agent may say; anyio runs on either."""


class Simulated(NamedTuple):
    """A simulated run: how it ended, and what was seen beside the seams.

    `real_wait_ms` is 0 within the allowance, for the same run waits a little differently each time.
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
    real_s: float,
) -> Simulated:
    """Run an agent on virtual time until it ends, crashes or meets a limit."""
    with live_sockets() as sockets, _seeded(seed), meter:
        end = ending(lambda: _call(agent, brief, clock, real_s), real_s, agent)
    waited_ms = int(meter.waited_s * 1000) if meter.exceeded else 0
    return Simulated(end, clock.now_ms(), waited_ms, tuple(sockets))


def _call(agent: Callable[..., Any], brief: Any, clock: VirtualClock, real_s: float) -> None:
    with virtual_time(clock):
        with virtual_event_loops(clock, real_s=real_s):
            result = agent(brief)
        if inspect.isawaitable(result):
            if _backend(brief, result) == "trio":
                run_trio(lambda: _awaited(result), clock)
            else:
                run_async(lambda: _awaited(result), clock, real_s=real_s)


def live(agent: Callable[..., Any], brief: Any, real_s: float, *, seed: int) -> End:
    """Run an agent in this process in real time."""
    with _seeded(seed):
        return ending(lambda: _call_live(agent, brief), real_s, agent)


def _call_live(agent: Callable[..., Any], brief: Any) -> None:
    result = agent(brief)
    if inspect.isawaitable(result):
        if _backend(brief, result) == "trio":
            run_trio(lambda: _awaited(result))
        else:
            asyncio.run(_awaited(result))


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
    """SDKs draw their jitter from the global generator."""
    former = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(former)


def ending(call: Callable[[], Any], real_s: float, agent: Callable[..., Any] | None = None) -> End:
    """Call a target, and say how it ended; only Ctrl-C and errors of the user's files pass.

    What would have ended or replaced the process counts even where the target catches it.
    """
    with ProcessGuard() as guard:
        end, error = _ended(call, real_s)
    if guard.refused and not isinstance(error, ProcessExit):
        end, error = End("crashed"), guard.refused[0]
    return end if error is None else _crashed(end, error, agent, guard.state.folder)


def _ended(call: Callable[[], Any], real_s: float) -> tuple[End, BaseException | None]:
    """How a call ended, with the exception of a crash."""
    try:
        with deadline(real_s):
            call()
    except RealTimeOut as stopped:
        return End("hung", None, str(stopped) or f"limits.real_s: {real_s:g} s are over"), None
    except RunStopped as stopped:
        return End("limit", None, str(stopped)), None
    except ScriptedInterrupt as error:
        return End("crashed"), error
    except (KeyboardInterrupt, InputError):
        raise
    except SystemExit as left:
        return (End("returned", 0), None) if left.code in (None, 0) else (End("crashed"), left)
    except BaseException as error:
        return End("crashed"), error
    return End("returned", 0), None


def _crashed(end: End, error: BaseException, agent: Callable[..., Any] | None, folder: str) -> End:
    """The end with what was raised, in which of the user's frames."""
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
        traceback=crash_trace.whole(error),
    )


def _status(left: SystemExit) -> int:
    if left.code is None:
        return 0
    return left.code if isinstance(left.code, int) else 1


def _innermost(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].name if frames else ""


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text raises, too)"


class RealTimeOut(RunStopped):
    """`limits.real_s` of real time are over."""


@contextmanager
def deadline(real_s: float) -> Iterator[None]:
    """Raises RealTimeOut in this block after `real_s` seconds of real time."""
    in_main = threading.current_thread() is threading.main_thread()
    with _alarm(real_s) if in_main and hasattr(signal, "setitimer") else _thread_timer(real_s):
        yield


@contextmanager
def _alarm(real_s: float) -> Iterator[None]:
    def stop(signum: int, frame: FrameType | None) -> NoReturn:
        raise RealTimeOut(f"limits.real_s: {real_s:g} s of real time are over")

    began = real_monotonic()
    former_handler = signal.signal(signal.SIGALRM, stop)
    left_s, interval_s = signal.setitimer(signal.ITIMER_REAL, real_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former_handler)
        if left_s:
            rest_s = max(left_s - (real_monotonic() - began), 0.001)
            signal.setitimer(signal.ITIMER_REAL, rest_s, interval_s)


@contextmanager
def _thread_timer(real_s: float) -> Iterator[None]:
    thread = ctypes.c_ulong(threading.get_ident())
    put = ctypes.pythonapi.PyThreadState_SetAsyncExc
    timer = threading.Timer(real_s, put, (thread, ctypes.py_object(RealTimeOut)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
