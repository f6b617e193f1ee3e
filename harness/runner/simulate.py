"""The simulated world: a Python target in this process, on virtual time.

The agent's calls cross the in-process transport; its waits pass at once and are recorded; its
random draws come from the run's seed. What the virtual clock cannot see is measured, and a socket
that it opens itself is refused and reported.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import traceback
from collections.abc import Awaitable, Callable, Iterator
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
from harness.core.values.errors import InputError, RunStopped, nearest
from harness.runner.deadline import RealTimeOut, deadline
from harness.runner.prepare import End
from harness.transports.in_process import ScriptedInterrupt
from harness.transports.live_sockets import live_sockets

BACKENDS = ("asyncio", "trio")
"""What the option `backend` of an asynchronous agent may say; anyio runs on either."""


class Passed(NamedTuple):
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
) -> Passed:
    """Run an agent on virtual time until it ends, crashes or meets a limit."""
    with live_sockets() as sockets, _seeded(seed), meter:
        end = ending(lambda: _call(agent, brief, clock, real_s), real_s)
    waited_ms = int(meter.waited_s * 1000) if meter.exceeded else 0
    return Passed(end, clock.now_ms(), waited_ms, tuple(sockets))


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
        return ending(lambda: _call_live(agent, brief), real_s)


def _call_live(agent: Callable[..., Any], brief: Any) -> None:
    result = agent(brief)
    if inspect.isawaitable(result):
        if _backend(brief, result) == "trio":
            run_trio(lambda: _awaited(result))
        else:
            asyncio.run(_awaited(result))


def _backend(brief: Any, result: Any) -> str:
    """The event loop that an asynchronous agent wants; InputError for one that there is not."""
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
    """The global generator, from which the SDKs draw their jitter, starts from the run's seed."""
    former = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(former)


def ending(call: Callable[[], Any], real_s: float) -> End:
    """Call a target, and say how it ended; only Ctrl-C and errors of the user's files pass."""
    try:
        with deadline(real_s):
            call()
    except RealTimeOut as stopped:
        return End("hung", None, str(stopped) or f"limits.real_s: {real_s:g} s are over")
    except RunStopped as stopped:
        return End("limit", None, str(stopped))
    except ScriptedInterrupt as error:
        return End("crashed", None, _told(error))
    except (KeyboardInterrupt, InputError):
        raise
    except SystemExit as left:
        return _left(left)
    except BaseException as error:
        return End("crashed", None, _told(error))
    return End("returned", 0)


def _left(error: SystemExit) -> End:
    if error.code in (None, 0):
        return End("returned", 0)
    code = error.code if isinstance(error.code, int) else 1
    return End("crashed", code, f"SystemExit: {error.code}")


def _told(error: BaseException) -> str:
    """An exception as one line, with the function in which it was raised; no path, no line."""
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        return _told(error.exceptions[0])
    frames = traceback.extract_tb(error.__traceback__)
    where = f" (in {frames[-1].name})" if frames else ""
    return f"{type(error).__name__}: {' '.join(_words(error).split())[:500]}{where}"


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text raises, too)"
