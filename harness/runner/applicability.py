"""Finds scenarios that a world cannot play with a target; such a run is not applicable.

Supervised waits take real time, up to `limits.real_s`; longer ones need virtual time. A kill needs
a target that the harness can end. A store fault needs the harness's own store.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Literal, get_args

from harness import faults
from harness.core.scenario.scenario import CassetteScript, FaultSpec, Scenario
from harness.core.values.verdict import NotApplicable
from harness.core.values.visible_text import duration
from harness.runner.needs import faults_seam, kills
from harness.runner.session_seed import scenario_path
from harness.targets import TargetSpec

World = Literal["simulate", "supervise"]
"""Virtual time in this process, or real time."""

WORLDS: tuple[str, ...] = get_args(World)

_SILENT = frozenset({"tools.answer_lost", "gateway.confirmation_lost"})
"""Faults after which a client waits until its own limit, which may be hours, or none."""

_WAITS = ("wait_s", "for_s", "retry_after")


def unplayable(scenario: Scenario, target: TargetSpec, world: World) -> tuple[NotApplicable, ...]:
    """Return why this world cannot play the scenario with this target; () if it can."""
    slow = needs_virtual_time(scenario) if world == "supervise" else ""
    if slow:
        return (NotApplicable("run", f"needs virtual time: {slow}", kind="time", detail=slow),)
    if clash := _clash(scenario):
        return (NotApplicable("run", clash, kind="profile"),)
    lack = ""
    if kills(scenario) and target.kind == "http":
        lack = "needs a target that can be killed: the harness did not start the server"
    elif kills(scenario) and target.kind == "python" and not hasattr(os, "fork"):
        lack = "needs os.fork, to kill a Python target"
    elif faults_seam(scenario, "store") and target.kind != "python":
        lack = "needs brief.store: a program keeps its session in its own store"
    return (NotApplicable("run", lack, kind="target"),) if lack else ()


def _clash(scenario: Scenario) -> str:
    """Return the tools that the profile gives one name; "" for none."""
    named: dict[str, str] = {}
    for tool in scenario.tools:
        name = scenario.profile.agent_name(tool)
        if other := named.get(name):
            return f"the profile gives the tools {other} and {tool} the same name: {name}"
        named[name] = tool
    return ""


def needs_virtual_time(scenario: Scenario) -> str:
    """Return the wait of the scenario that exceeds `limits.real_s`; "" without one."""
    most_s = scenario.limits.real_s
    return next((what for what, wait_s in _waits(scenario) if wait_s > most_s), "")


def _waits(scenario: Scenario) -> Iterator[tuple[str, float]]:
    """Yield each wait: its description and its seconds."""
    for item in scenario.inbox:
        if isinstance(item.when, dict) and "ms" in item.when:
            yield f"inbox message at {item.when['ms']} ms", item.when["ms"] / 1000
    for fault in scenario.faults:
        if faults.by_kind(fault.kind).virtual:
            yield f"fault {fault.kind} moves the clock", math.inf
        for name, wait_s in _of_fault(fault):
            yield f"fault {fault.kind} with {name} {duration(wait_s)}", wait_s
    yield from _of_cassette(scenario)
    for name, tool in scenario.tools.items():
        for turn in tool.script:
            wait_s = math.inf if turn.hang is True else float(turn.hang)
            yield f"tool {name} hangs {duration(wait_s)}", wait_s


def _of_cassette(scenario: Scenario) -> Iterator[tuple[str, float]]:
    """Yield the durations of recorded responses, if the scenario plays recorded times."""
    from harness.cassettes.cassette_file import answer_durations

    script = scenario.script
    if isinstance(script, CassetteScript) and script.timing == "recorded":
        for number, wait_ms in answer_durations(scenario_path(scenario, script.cassette)):
            wait_s = wait_ms / 1000
            yield f"exchange #{number} of the cassette takes {duration(wait_s)}", wait_s


def _of_fault(spec: FaultSpec) -> Iterator[tuple[str, float]]:
    """Yield a fault's waits, defaults included; a wait without `wait_s` has no end."""
    if spec.kind in _SILENT:
        yield "no answer", math.inf
    for name, default in faults.by_kind(spec.kind).defaults.items():
        if name in _WAITS:
            value = spec.settings.get(name, default)
            yield name, _seconds(value, math.inf if name == "wait_s" else 0.0)


def _seconds(value: object, without: float) -> float:
    if value is None:
        return without
    try:
        return float(str(value))
    except ValueError:
        return 0.0
