"""Selects the runs that differ for an agent: each once, on the APIs that it speaks.

A program or a framework speaks one API, and most scenarios can be played on any. Such a scenario is
played on the agent's API too, if that API can express it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from harness import providers
from harness.adapters import FrameworkAgent
from harness.cli.selection import check_files, narrow, on_wires
from harness.core.scenario.scenario import DEFAULT_WIRE, CassetteScript, Scenario
from harness.core.values.profile import Profile
from harness.doctor.probe import GREETING, scenario_of
from harness.faults import faults
from harness.targets.spec import TargetSpec, resolve

Planned = list[tuple[str, Scenario]]

_BLOCKS = frozenset({"text", "thinking", "tool_use"})
"""The block types that every API has in its responses."""


def for_agent(
    planned: Planned, only: Sequence[str], wires: Sequence[str], target: str, *, plays: bool = True
) -> Planned:
    """Return the runs that `only` names, on the given wires, else on those of the target.

    With `plays`, a text function that does not show its wire is played once to find it. Raises
    InputError for a file or a target that cannot be used, and when no run is left.
    """
    if wires or not target:
        return on_wires(narrow(planned, only), wires)
    check_files(planned)  # first, because importing the target may change the folder
    spec = resolve(target)
    profile = spec.profile
    if plays and not profile.wires and _is_text_function(spec):
        profile = msgspec.structs.replace(profile, wires=_spoken(spec))
    return for_profile(planned, only, profile)


def _is_text_function(spec: TargetSpec) -> bool:
    return isinstance(spec.agent, FrameworkAgent) and spec.agent.framework == "text_function"


def _spoken(spec: TargetSpec) -> tuple[str, ...]:
    """The wire on which a text function calls the model, found as `doctor` finds it: it is greeted
    on each. Its module may call the model by another module, so its source need not show it."""
    from harness.runner import run

    for wire in providers.names():
        greeting = scenario_of(GREETING, spec.profile, wire=wire)
        if run(greeting, spec).history.trace.exchanges:
            return (wire,)
    return ()


def for_profile(planned: Planned, only: Sequence[str], profile: Profile) -> Planned:
    """Return the runs that `only` names, on the profile's wires. Raises InputError for none."""
    spoken = on_wires([*planned, *_carried(planned, profile.wires)], profile.wires)
    return list(_without_twins(narrow(spoken, only), profile))


def _carried(planned: Planned, wires: Collection[str]) -> Iterator[tuple[str, Scenario]]:
    """Yield runs on one of `wires` for scenarios without one: their default-wire runs, moved."""
    named = {scenario.name for _, scenario in planned if scenario.wire in wires}
    for path, scenario in planned:
        if scenario.wire != DEFAULT_WIRE or scenario.name in named:
            continue
        if wire := next((each for each in wires if _can_express(scenario, each)), ""):
            yield path, msgspec.structs.replace(scenario, wire=wire)


def _can_express(scenario: Scenario, wire: str) -> bool:
    """Whether an API can express a run: its dialect, and each block, fault and rule of a fault."""
    if scenario.dialect or isinstance(scenario.script, CassetteScript):
        return False
    blocks = (block.get("type") for turn in scenario.script for block in turn.blocks)
    if not _BLOCKS.issuperset(blocks):
        return False
    specs = [(spec, faults()[spec.kind].wires) for spec in scenario.faults]
    return all("rule" not in s.settings and (not of or wire in of) for s, of in specs)


def _without_twins(planned: Planned, profile: Profile) -> Iterator[tuple[str, Scenario]]:
    """Drop the plain runs that a streamed run repeats, for an agent that always streams."""
    streamed = {scenario.run_name for _, scenario in planned if scenario.stream}
    for path, scenario in planned:
        twin = f"{scenario.run_name}+stream" in streamed
        if not (twin and profile.stream == "always"):
            yield path, scenario
