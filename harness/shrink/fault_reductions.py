"""Weaker faults: one that strikes once, early, on the first call, and lets the next one through.

`field_reductions` lowers numbers; this file reduces `forever`, conditions and what comes after.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from harness.core.scenario.scenario import FaultSpec, Scenario, When
from harness.shrink.delta_debugging import Candidates, in_turn, lowered, mapped

_OFTEN = 256
"""A fault that strikes forever is tried up to this many times."""


def weaker(scenario: Scenario) -> Candidates[Scenario]:
    """Every fault becomes as weak as it can be."""
    yield from in_turn(scenario, [partial(_weaker, place) for place in range(len(scenario.faults))])


def _weaker(place: int, scenario: Scenario) -> Candidates[Scenario]:
    yield from in_turn(scenario, [partial(_simpler, place), partial(_fewer_times, place)])


def _simpler(place: int, scenario: Scenario) -> Candidates[Scenario]:
    for fault in _simple(scenario.faults[place]):
        if (yield _with(scenario, place, fault)):
            return


def _simple(fault: FaultSpec) -> Iterator[FaultSpec]:
    """The fault once on the first call; then with one field at a time as it is by default."""
    once: dict[str, object] = {"when": 1, "often": "once", "then": "ok"}
    yield msgspec.structs.replace(fault, **once)
    yield msgspec.structs.replace(fault, often="once", then="ok")
    for field, default in once.items():
        yield msgspec.structs.replace(fault, **{field: default})
    if isinstance(fault.when, (When, list, tuple)):
        for first in (2, 3, 4):
            yield msgspec.structs.replace(fault, when=first)


def _fewer_times(place: int, scenario: Scenario) -> Candidates[Scenario]:
    fault = scenario.faults[place]
    often = _OFTEN if fault.often == "forever" else fault.often
    if isinstance(often, int):
        times = mapped(lowered(often, 2), lambda n: msgspec.structs.replace(fault, often=n))
        yield from mapped(times, lambda weak: _with(scenario, place, weak))


def _with(scenario: Scenario, place: int, fault: FaultSpec) -> Scenario:
    faults = (*scenario.faults[:place], fault, *scenario.faults[place + 1 :])
    return msgspec.structs.replace(scenario, faults=faults)
