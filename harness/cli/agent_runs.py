"""The runs of a plan that an agent can tell apart: on the APIs that it speaks, each once.

A program or a framework speaks one API, and most scenarios ask nothing of a certain one. So what
their files do not name on that API is played on it too, if it can be said there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from harness.cli.selection import check_files, narrow, on_wires
from harness.core.scenario.scenario import DEFAULT_WIRE, CassetteScript, Scenario
from harness.core.values.profile import Profile
from harness.faults import faults
from harness.targets.spec import resolve

Planned = list[tuple[str, Scenario]]

_BLOCKS = frozenset({"text", "thinking", "tool_use"})
"""The blocks that the answers of all APIs can hold."""


def for_agent(planned: Planned, only: Sequence[str], wires: Sequence[str], target: str) -> Planned:
    """The runs that `only` names, on the wires that are named, else on those of the target.

    Raises InputError for a file or a target that cannot be used, and when there is no such run.
    """
    if wires or not target:
        return on_wires(narrow(planned, only), wires)
    check_files(planned)  # before the target is imported, which may change the folder
    return for_profile(planned, only, resolve(target).profile)


def for_profile(planned: Planned, only: Sequence[str], profile: Profile) -> Planned:
    """The runs that `only` names, on the wires of the profile. Raises InputError without one."""
    spoken = on_wires([*planned, *_carried(planned, profile.wires)], profile.wires)
    return list(_told_apart(narrow(spoken, only), profile))


def _carried(planned: Planned, wires: Collection[str]) -> Iterator[tuple[str, Scenario]]:
    """The runs of the default wire on one of `wires`, of scenarios that name none of them."""
    named = {scenario.name for _, scenario in planned if scenario.wire in wires}
    for path, scenario in planned:
        if scenario.wire != DEFAULT_WIRE or scenario.name in named:
            continue
        if wire := next((each for each in wires if _can_be_said(scenario, each)), ""):
            yield path, msgspec.structs.replace(scenario, wire=wire)


def _can_be_said(scenario: Scenario, wire: str) -> bool:
    """Whether a run asks for no dialect, block, fault or rule that an API lacks."""
    if scenario.dialect or isinstance(scenario.script, CassetteScript):
        return False
    blocks = (block.get("type") for turn in scenario.script for block in turn.blocks)
    if not _BLOCKS.issuperset(blocks):
        return False
    specs = [(spec, faults()[spec.kind].wires) for spec in scenario.faults]
    return all("rule" not in s.settings and (not of or wire in of) for s, of in specs)


def _told_apart(planned: Planned, profile: Profile) -> Iterator[tuple[str, Scenario]]:
    """The runs without those that a streamed one repeats, for an agent that always streams."""
    streamed = {scenario.run_name for _, scenario in planned if scenario.stream}
    for path, scenario in planned:
        twin = f"{scenario.run_name}+stream" in streamed
        if not (twin and profile.stream == "always"):
            yield path, scenario
