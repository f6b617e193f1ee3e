"""The two worlds: which one a run passes through, and what each sets up around the target."""

from __future__ import annotations

from pathlib import Path

from harness.clock import RealClock, RealWaitMeter, VirtualClock
from harness.core.history import History
from harness.core.messages import Message
from harness.core.ports import Script
from harness.core.scenario import Scenario
from harness.core.transition import Transition
from harness.doors.door import Door
from harness.doors.in_process import InProcessBrief
from harness.doors.loopback import Loopback
from harness.doors.loopback_brief import LoopbackBrief
from harness.doors.mounted import mounted_as
from harness.runner import prepare
from harness.runner.session import (
    OwnStore,
    StoreWatch,
    lay_seed,
    open_reader,
    seed_messages,
)
from harness.runner.simulate import live, simulate
from harness.runner.supervise import supervise
from harness.targets import TargetSpec


def pass_through(
    scenario: Scenario,
    target: TargetSpec,
    world: str,
    folder: Path,
    *,
    script: Script | None,
    store: str,
) -> History:
    """The history of a run in a world; the folder is the agent's session folder."""
    transition = prepare.transition_for(scenario, script)
    messages = seed_messages(scenario)
    lay_seed(folder, messages)
    if target.kind == "python":
        return _python(transition, target, world, folder, store, messages)
    return supervise(transition, target, folder, store)


def _python(
    transition: Transition,
    target: TargetSpec,
    world: str,
    folder: Path,
    store: str,
    messages: list[Message],
) -> History:
    own = OwnStore(transition, folder, messages, target.options)
    if store:
        transition.look = StoreWatch(open_reader(store, folder), transition.history).look
    prepare.start(transition, target, world, 0, store=bool(store))
    try:
        if world == "simulate":
            return simulated(transition, target, folder, own)
        return _on_loopback(transition, target, folder, own)
    finally:
        own.close()


def simulated(transition: Transition, target: TargetSpec, folder: Path, own: OwnStore) -> History:
    """Run a Python target in virtual time, from where the history's clock stands to the end."""
    scenario, events = transition.scenario, transition.history.events
    start_ms = max((event.at_ms for event in events), default=0)
    clock = VirtualClock(start_ms, limit_s=scenario.limits.virtual_s)
    door = Door(transition, clock)
    meter = RealWaitMeter()
    brief = InProcessBrief(
        door, folder, options=target.options, open_store=own.open, own_time=meter.door
    )
    assert target.agent is not None
    with mounted_as(target.options.get("mount"), door):
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
    return transition.history


def _on_loopback(
    transition: Transition, target: TargetSpec, folder: Path, own: OwnStore
) -> History:
    """A Python target in real time: its model calls go over loopback, the rest is at hand."""
    scenario, clock = transition.scenario, RealClock()
    with Loopback(transition, clock) as loopback:
        brief = LoopbackBrief(loopback, folder, options=target.options, open_store=own.open)
        assert target.agent is not None
        with mounted_as(target.options.get("mount"), loopback.door):
            end = live(target.agent, brief, scenario.limits.real_s, seed=scenario.seed)
    transition.look(clock.now_ms())
    prepare.end(transition, end, clock.now_ms())
    return transition.history
