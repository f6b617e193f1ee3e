"""A Python target that is at hand: one attempt of it in this process, in either world.

In simulate its time is virtual and its seams are plain calls; in supervise its model is a socket.
Whoever calls decides whether the process is the harness's own or a child that a `Kill` may end.

MERGED: The simulated world: a Python target in this process, on virtual time.

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
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from harness.clock import (
    RealClock,
    RealWaitMeter,
    VirtualClock,
    run_async,
    run_trio,
    virtual_event_loops,
    virtual_time,
)
from harness.core.history.history import History
from harness.core.transition.transition import Transition
from harness.core.values.errors import InputError, RunStopped, nearest
from harness.runner import prepare
from harness.runner.prepare import End
from harness.runner.session import OwnStore, StoreWatch, open_reader
from harness.targets import TargetSpec
from harness.targets.python_target import RealTimeOut, deadline
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief, LoopbackBrief, ScriptedInterrupt
from harness.transports.live_sockets import live_sockets
from harness.transports.loopback import Loopback
from harness.transports.mount import mounted_by_option

Kill = Callable[[], None]


def attempt(
    transition: Transition,
    target: TargetSpec,
    world: str,
    folder: Path,
    own: OwnStore,
    *,
    store: str = "",
    number: int = 0,
    on_kill: Kill = lambda: None,
    model_url: str = "",
) -> None:
    """Run the target once, from where the history's clock stands, to its end.

    `store` names the agent's own store as READER:PATH. `on_kill` carries out a `Kill` step. In
    supervise, `model_url` is where the model is, when it is not behind our door.
    """
    if store:
        transition.look = StoreWatch(open_reader(store, folder), transition.history).look
    prepare.start(transition, target, world, number, store=bool(store))
    carried = (
        _attempt_simulated if world == "simulate" else partial(_attempt_on_loopback, model_url)
    )
    carried(transition, target, folder, own, on_kill)


def _attempt_simulated(
    transition: Transition, target: TargetSpec, folder: Path, own: OwnStore, on_kill: Kill
) -> None:
    """In virtual time."""
    scenario = transition.scenario
    clock = VirtualClock(now_ms(transition.history), limit_s=scenario.limits.virtual_s)
    door = Dispatcher(transition, clock, on_kill=on_kill)
    meter = RealWaitMeter()
    brief = InProcessBrief(
        door,
        folder,
        options=target.options,
        open_store=partial(own.open, door),
        own_time=meter.door,
    )
    assert target.agent is not None
    with mounted_by_option(target.options.get("mount"), door):
        passed = simulate(
            target.agent, brief, clock, meter, seed=scenario.seed, real_s=scenario.limits.real_s
        )
    transition.look(passed.at_ms)
    prepare.end(
        transition,
        passed.end,
        passed.at_ms,
        real_wait_ms=passed.real_wait_ms,
        live_sockets=passed.live_sockets,
    )


def _attempt_on_loopback(
    model_url: str,
    transition: Transition,
    target: TargetSpec,
    folder: Path,
    own: OwnStore,
    on_kill: Kill,
) -> None:
    """In real time: its model calls go over loopback, the rest is at hand."""
    scenario, clock = transition.scenario, RealClock(now_ms(transition.history))
    with Loopback(transition, clock, model_url=model_url) as loopback:
        loopback.on_kill = on_kill
        brief = LoopbackBrief(
            loopback,
            folder,
            options=target.options,
            open_store=partial(own.open, loopback.door),
        )
        assert target.agent is not None
        with mounted_by_option(target.options.get("mount"), loopback.door):
            end = live(target.agent, brief, scenario.limits.real_s, seed=scenario.seed)
    transition.look(clock.now_ms())
    prepare.end(transition, end, clock.now_ms())


def now_ms(history: History) -> int:
    """Where the run's clock stands: at the last event, 0 before the first."""
    return max((event.at_ms for event in history.events), default=0)


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
        end = ending(lambda: _call(agent, brief, clock, real_s), real_s)
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
