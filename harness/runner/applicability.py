"""Which scenarios cannot pass through real time: those that wait longer than its limit.

Scripted waits run in real time in the supervised world, up to `limits.real_s`; a scenario that
needs more is not applicable there, which is no finding about the agent.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator

from harness import faults
from harness.core.scenario.scenario import CassetteScript, FaultSpec, Scenario
from harness.runner.session import beside

_WAITS = ("wait_s", "for_s", "retry_after")


def needs_virtual_time(scenario: Scenario) -> str:
    """What in the scenario waits longer than real time allows; "" when nothing does."""
    most_s = scenario.limits.real_s
    return next((what for what, wait_s in _waits(scenario) if wait_s > most_s), "")


def _waits(scenario: Scenario) -> Iterator[tuple[str, float]]:
    """Everything that waits, in words, with its seconds."""
    for item in scenario.inbox:
        if isinstance(item.when, dict) and "ms" in item.when:
            yield f"inbox message at {item.when['ms']} ms", item.when["ms"] / 1000
    for fault in scenario.faults:
        if faults.by_kind(fault.kind).virtual:
            yield f"fault {fault.kind} moves the clock", math.inf
        for name, wait_s in _of_fault(fault):
            yield f"fault {fault.kind} with {name} {_duration(wait_s)}", wait_s
    yield from _of_cassette(scenario)
    for name, tool in scenario.tools.items():
        for turn in tool.script:
            wait_s = math.inf if turn.hang is True else float(turn.hang)
            yield f"tool {name} hangs {_duration(wait_s)}", wait_s


def _of_cassette(scenario: Scenario) -> Iterator[tuple[str, float]]:
    """How long the recorded answers take, where their times are played."""
    from harness.cassettes.cassette_file import answer_durations

    script = scenario.script
    if isinstance(script, CassetteScript) and script.timing == "recorded":
        for number, wait_ms in answer_durations(beside(scenario, script.cassette)):
            wait_s = wait_ms / 1000
            yield f"exchange #{number} of the cassette takes {_duration(wait_s)}", wait_s


def _of_fault(spec: FaultSpec) -> Iterator[tuple[str, float]]:
    """The waits among a fault's settings, with its own defaults; no `wait_s` is for ever."""
    for name, parameter in inspect.signature(faults.by_kind(spec.kind).function).parameters.items():
        if name in _WAITS:
            value = spec.settings.get(name, parameter.default)
            yield name, _seconds(value, math.inf if name == "wait_s" else 0.0)


def _seconds(value: object, without: float) -> float:
    if value is None:
        return without
    try:
        return float(str(value))
    except ValueError:
        return 0.0


def _duration(wait_s: float) -> str:
    return "for ever" if math.isinf(wait_s) else f"{wait_s:g} s"
