"""Of the selected runs, those that an agent plays: each scenario once, on an API that it speaks.

A program or a framework speaks one API, and most scenarios can be played on any. Such a scenario is
played on the agent's API too, if that API can express it. What an agent does wrong on one wire it
mostly does on the others as well. More wires are asked for by name, or each by `all`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from harness.cli.selection import check_files, narrow, on_wires
from harness.comparison.writings import apart_from_wire, courses
from harness.core.scenario.scenario import DEFAULT_WIRE, EVERY_WIRE, CassetteScript, Scenario
from harness.core.values.profile import Profile, Streaming
from harness.targets.spec import TargetSpec, resolve

if TYPE_CHECKING:
    from harness.doctor.probe import Probe

Planned = list[tuple[str, Scenario]]

_Greeted: TypeAlias = "Callable[[str, bool], Probe]"
"""What the agent does when it is greeted on a wire, with or without a stream."""

_BLOCKS = frozenset({"text", "thinking", "tool_use"})
"""The block types that every API has in its responses."""

_OWN_STOPS = frozenset({"pause_turn", "model_context_window_exceeded"})
"""Stop reasons that another API has no word for: there they look like another end."""


def for_agent(
    planned: Planned, only: Sequence[str], wires: Sequence[str], agent: Profile, target: str,
    *, plays: bool = True,
) -> Planned:  # fmt: skip
    """Return the runs that `only` names, on the given wires; without wires each once.

    With `plays`, an agent is greeted for what its profile leaves open: on one wire after the other,
    and with and without a stream. Raises InputError for a file or a target that cannot be used, and
    when no run is left.
    """
    if wires and EVERY_WIRE not in wires:
        chosen = on_wires(narrow(planned, only), wires)
        check_files(chosen)
        return chosen
    check_files(planned)  # first, because importing the target may change the folder
    spec = resolve(target) if target else None
    profile = agent.completed_by(spec.profile) if spec else agent
    found = for_profile(planned, only, profile)
    if wires:
        return found
    choice = profile.wires or _open_wires(found)
    if spec is None or not plays:
        return list(_once(found, choice))
    greeted = cache(partial(_greeted, spec))  # a program takes seconds to start
    once = list(_once(found, profile.wires or _spoken(greeted, choice)))
    return list(_without_twins(once, _streaming(greeted, once, profile)))


def _open_wires(planned: Planned) -> tuple[str, ...]:
    """The wires among which a scenario leaves the choice, in its order."""
    several = (same for same in courses(run for _, run in planned) if same[1:])
    return tuple(dict.fromkeys(run.wire for same in several for run in same))


def _once(planned: Planned, spoken: Sequence[str]) -> Iterator[tuple[str, Scenario]]:
    """Yield one run of those that differ in their wire only; all, if the agent speaks none."""
    chosen = {
        apart_from_wire(run): wire
        for wire in reversed(spoken)
        for _, run in planned
        if run.wire == wire
    }
    for path, run in planned:
        if chosen.get(apart_from_wire(run), run.wire) == run.wire:
            yield path, run


def _spoken(greeted: _Greeted, wires: Sequence[str]) -> tuple[str, ...]:
    """The first of these wires on which the agent calls the model when it is greeted.

    Its source need not show it: its module may call the model by another module.
    """
    return next(((wire,) for wire in wires if greeted(wire, False).trace.exchanges), ())


def _streaming(greeted: _Greeted, planned: Planned, profile: Profile) -> Streaming:
    """Whether the agent streams always, never, or as the scenario says.

    Few agents look at what the scenario says, and would play each run with a stream twice. An agent
    whose profile declares `streaming` owes both.
    """
    from harness.doctor.connections import stream_of

    twins = _twins(planned)
    wire = next((run.wire for _, run in planned if run.run_name in twins), "")
    if profile.stream != "either" or profile.capabilities.streaming or not wire:
        return profile.stream
    return stream_of(greeted(wire, stream) for stream in (False, True)) or "either"


def _greeted(spec: TargetSpec, wire: str, stream: bool) -> Probe:
    """What the agent does when it is greeted."""
    from harness.doctor.probe import GREETING, Probe, scenario_of
    from harness.runner import run

    greeting = scenario_of(GREETING, spec.profile, wire=wire, stream=stream)
    played = run(greeting, spec, isolate=spec.may_keep_state, capture="fd")
    return Probe(greeting, played.history.trace, played.verdict)


def for_profile(planned: Planned, only: Sequence[str], profile: Profile) -> Planned:
    """Return the runs that `only` names, on the profile's wires. Raises InputError for none."""
    spoken = on_wires([*planned, *_carried(planned, profile.wires)], profile.wires)
    return list(_without_twins(narrow(spoken, only), profile.stream))


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
    from harness.faults import faults

    if scenario.dialect or isinstance(scenario.script, CassetteScript):
        return False
    blocks = (block.get("type") for turn in scenario.script for block in turn.blocks)
    if not _BLOCKS.issuperset(blocks) or _OWN_STOPS & {turn.stop for turn in scenario.script}:
        return False
    specs = [(spec, faults()[spec.kind].wires) for spec in scenario.faults]
    return all("rule" not in s.settings and (not of or wire in of) for s, of in specs)


def _without_twins(planned: Planned, streaming: Streaming) -> Iterator[tuple[str, Scenario]]:
    """Drop, of the same run with and without a stream, the one that repeats the other."""
    twins = _twins(planned)
    for path, scenario in planned:
        is_dropped = streaming == ("never" if scenario.stream else "always")
        if not (is_dropped and scenario.run_name in twins):
            yield path, scenario


def _twins(planned: Planned) -> set[str]:
    """The names of the runs that are there with and without a stream."""
    names = {scenario.run_name for _, scenario in planned}
    plain = {name for name in names if f"{name}+stream" in names}
    return plain | {f"{name}+stream" for name in plain}
