"""Runs one attempt of a Python target in this process, in either world.

In simulate, time is virtual and the seams are plain calls. In supervise, time is real and the model
is behind a socket.

A life after a kill begins later than the one before, with other random numbers. Otherwise the ids
that programs make of the time or of `random` (UUID 7, ULID, ObjectId, `time_ns`) come again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from harness.clock import RealClock, RealWaitMeter, VirtualClock
from harness.core.history.events import Answered
from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.plans import Jump
from harness.processes.machine import full_disk
from harness.runner import prepare
from harness.runner.own_files import OwnFiles, watch_files
from harness.runner.program_marks import MarkLog
from harness.runner.store_watch import OwnStore, watch_store
from harness.targets import TargetSpec
from harness.targets.marks import marking
from harness.targets.python_target import live, simulate
from harness.transports.dispatcher import Dispatcher
from harness.transports.in_process import InProcessBrief, LoopbackBrief
from harness.transports.loopback import Loopback
from harness.transports.mount import mounted_by_option

Kill = Callable[[str, int], None]
"""Ends the target, at a place in its own files, "" for another one, and at a time of its clock."""

DOWNTIME_MS = (1, 3 * 86_400_000)
"""The shortest downtime, which a supervisor needs that restarts at once, and the longest, that of a
service which fails before a weekend. One millisecond is also the unit of time in UUID 7 and ULID.
"""


def attempt(
    transition: Transition,
    target: TargetSpec,
    world: str,
    folder: Path,
    own: OwnStore,
    *,
    store: str = "",
    number: int = 0,
    on_kill: Kill = lambda place, at_ms: None,
    model_url: str = "",
    work: Path | None = None,
) -> None:
    """Run the target once, from the present time of the history's clock to its end.

    `store` names the agent's own store as READER:PATH. `on_kill` carries out a `Kill` step. In
    supervise, `model_url` is the model's URL if another server serves it. `work` is the working
    folder of the run, if it has one.
    """
    watch_store(transition, store, folder)
    folders = (folder, work) if work else (folder,)
    files = watch_files(transition, folders) if transition.is_faulty("file") else None
    killed = partial(_killed, files, on_kill)
    seed = life_seed(transition.scenario, number)
    down_ms = downtime_ms(transition.scenario, number) if world == "simulate" else 0
    prepare.start(transition, target, world, number, store=bool(store), downtime_ms=down_ms)
    if world == "simulate":
        _attempt_simulated(transition, target, folder, own, killed, seed)
    else:
        _attempt_on_loopback(transition, target, folder, own, killed, model_url, seed)


def _killed(files: OwnFiles | None, on_kill: Kill, at_ms: int) -> None:
    place = files.place if files else ""
    if files:
        files.damage()
    on_kill(place, at_ms)


def _attempt_simulated(
    transition: Transition, target: TargetSpec, folder: Path, own: OwnStore,
    on_kill: Callable[[int], None], seed: int,
) -> None:  # fmt: skip
    scenario = transition.scenario
    clock = _virtual_clock(transition.history, scenario, seed)
    dispatcher = Dispatcher(transition, clock, on_kill=lambda: on_kill(clock.now_ms()))
    meter = RealWaitMeter()
    clock.keeper.own_time = meter.harness_time
    opened = partial(own.open, dispatcher)
    brief = InProcessBrief(
        dispatcher, folder, options=target.options, open_store=opened, own_time=meter.harness_time
    )
    assert target.agent is not None
    marks = MarkLog(dispatcher)
    with mounted_by_option(target.options.get("mount"), dispatcher), marking(marks):
        passed = simulate(
            target.agent, brief, clock, meter,
            seed=seed, limits=scenario.limits, seams=dispatcher,
        )  # fmt: skip
    marks.write(passed.at_ms)
    transition.look(passed.at_ms)
    seen: dict[str, Any] = {
        "real_wait_ms": passed.real_wait_ms, "live_sockets": passed.live_sockets,
    }  # fmt: skip
    if clock.keeper.choices is not None:
        seen["points"] = tuple(clock.keeper.choices.points)
    prepare.end(transition, passed.end, passed.at_ms, full_disk(folder), **seen)


def _attempt_on_loopback(
    transition: Transition, target: TargetSpec, folder: Path, own: OwnStore,
    on_kill: Callable[[int], None], model_url: str, seed: int,
) -> None:  # fmt: skip
    """Run the target with model calls over loopback; the other seams are plain calls."""
    scenario, clock = transition.scenario, RealClock(now_ms(transition.history))
    with Loopback(transition, clock, model_url=model_url) as loopback:
        loopback.dispatcher.on_kill = lambda: on_kill(clock.now_ms())
        brief = LoopbackBrief(
            loopback.dispatcher,
            folder,
            model_url=loopback.urls.model,
            options=target.options,
            open_store=partial(own.open, loopback.dispatcher),
        )
        assert target.agent is not None
        marks = MarkLog(loopback.dispatcher)
        with mounted_by_option(target.options.get("mount"), loopback.dispatcher), marking(marks):
            end = live(
                target.agent, brief,
                seed=seed, limits=scenario.limits, seams=loopback.dispatcher,
            )  # fmt: skip
    marks.write(clock.now_ms())
    transition.look(clock.now_ms())
    lack = loopback.lack or full_disk(folder)
    prepare.end(transition, end, clock.now_ms(), lack)


def now_ms(history: History) -> int:
    """Return the time of the run's clock: that of the last event, 0 before the first."""
    return max((event.at_ms for event in history.events), default=0)


def life_seed(scenario: Scenario, number: int) -> int:
    """Return the seed of the random numbers of a life; the first life has the scenario's."""
    if not number:
        return scenario.seed
    return Draws(scenario.seed).random("life", str(number)).getrandbits(63)


def downtime_ms(scenario: Scenario, number: int) -> int:
    """Return the milliseconds before a life in which no process of the agent runs; 0 for the first.

    All orders of magnitude are equally frequent. The draw depends on the first message. The name
    has no part in it, because a shrunk finding gets another name.
    """
    if not number:
        return 0
    first = scenario.inbox[0].text if scenario.inbox else ""
    drawn = Draws(scenario.seed).random("downtime", first, str(number))
    return round(math.exp(drawn.uniform(*map(math.log, DOWNTIME_MS))))


def _virtual_clock(history: History, scenario: Scenario, seed: int) -> VirtualClock:
    """Return the clock of a life, with the downtimes and the jumps of the lives before."""
    limit_s, orders = scenario.limits.virtual_s, scenario.orders
    clock = VirtualClock(now_ms(history), limit_s=limit_s, seed=seed, orders=orders)
    clock.pass_downtime(history.past.downtime_ms)
    answers = (event for event in history.events if isinstance(event, Answered))
    jumps = (step for event in answers for step in event.steps if isinstance(step, Jump))
    clock.jump(sum(step.wall_ms - step.monotonic_ms for step in jumps))
    return clock
