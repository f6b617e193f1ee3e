"""Runs one attempt of a Python target in this process, in either world.

In simulate, time is virtual and the seams are plain calls. In supervise, time is real and the model
is behind a socket.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.clock import RealClock, RealWaitMeter, VirtualClock
from harness.core.history.history import History
from harness.core.transition.transition import Transition
from harness.processes.machine import full_disk
from harness.runner import prepare
from harness.runner.store_watch import OwnStore, watch_store
from harness.targets import TargetSpec
from harness.targets.python_target import live, simulate
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief, LoopbackBrief
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
    """Run the target once, from the present time of the history's clock to its end.

    `store` names the agent's own store as READER:PATH. `on_kill` carries out a `Kill` step. In
    supervise, `model_url` is the model's URL if another server serves it.
    """
    watch_store(transition, store, folder)
    prepare.start(transition, target, world, number, store=bool(store))
    if world == "simulate":
        _attempt_simulated(transition, target, folder, own, on_kill)
    else:
        _attempt_on_loopback(transition, target, folder, own, on_kill, model_url)


def _attempt_simulated(
    transition: Transition, target: TargetSpec, folder: Path, own: OwnStore, on_kill: Kill
) -> None:
    scenario = transition.scenario
    began_ms, limit_s = now_ms(transition.history), scenario.limits.virtual_s
    clock = VirtualClock(began_ms, limit_s=limit_s, seed=scenario.seed)
    dispatcher = Dispatcher(transition, clock, on_kill=on_kill)
    meter = RealWaitMeter()
    clock.keeper.own_time = meter.harness_time
    opened = partial(own.open, dispatcher)
    brief = InProcessBrief(
        dispatcher, folder, options=target.options, open_store=opened, own_time=meter.harness_time
    )
    assert target.agent is not None
    with mounted_by_option(target.options.get("mount"), dispatcher):
        passed = simulate(
            target.agent, brief, clock, meter,
            seed=scenario.seed, limits=scenario.limits, seams=dispatcher,
        )  # fmt: skip
    transition.look(passed.at_ms)
    seen = {"real_wait_ms": passed.real_wait_ms, "live_sockets": passed.live_sockets}
    prepare.end(transition, passed.end, passed.at_ms, full_disk(folder), **seen)


def _attempt_on_loopback(
    transition: Transition, target: TargetSpec, folder: Path, own: OwnStore, on_kill: Kill,
    model_url: str,
) -> None:  # fmt: skip
    """Run the target with model calls over loopback; the other seams are plain calls."""
    scenario, clock = transition.scenario, RealClock(now_ms(transition.history))
    with Loopback(transition, clock, model_url=model_url) as loopback:
        loopback.dispatcher.on_kill = on_kill
        brief = LoopbackBrief(
            loopback.dispatcher,
            folder,
            model_url=loopback.urls.model,
            options=target.options,
            open_store=partial(own.open, loopback.dispatcher),
        )
        assert target.agent is not None
        with mounted_by_option(target.options.get("mount"), loopback.dispatcher):
            end = live(
                target.agent, brief,
                seed=scenario.seed, limits=scenario.limits, seams=loopback.dispatcher,
            )  # fmt: skip
    transition.look(clock.now_ms())
    lack = loopback.lack or full_disk(folder)
    prepare.end(transition, end, clock.now_ms(), lack)


def now_ms(history: History) -> int:
    """Return the time of the run's clock: that of the last event, 0 before the first."""
    return max((event.at_ms for event in history.events), default=0)
