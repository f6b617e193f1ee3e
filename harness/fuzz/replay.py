"""A failing example of another campaign, played again: does it still fail for this agent?

It comes as the text of a scenario, which another version wrote and an artifact carried. So it is
checked like a file from outside: it names no file, calls no tool beyond those of the grammars, and
keeps the limits of a campaign. An agent with real tools would run a call of any other name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from harness.comparison.writings import WRITING
from harness.core.scenario.scenario import CassetteScript, Limits, Scenario
from harness.core.values.errors import HarnessError, InputError
from harness.core.values.verdict import Finding, Verdict
from harness.files import load_scenarios
from harness.files.owner import scratch_folder
from harness.files.regular_file import write_atomically
from harness.files.scenario_text import scenario_yaml
from harness.fuzz import children_grammar, script_grammar
from harness.fuzz.example import CampaignTask, RawFinding, causes_of, genuine, run_of
from harness.fuzz.findings import (
    UNNAMED,
    ShrinkTask,
    ShrunkFinding,
    is_of_the_scenario,
    model_messages,
    name_of,
    shrunk_from,
)
from harness.fuzz.scenario_grammar import LIMITS
from harness.redaction.encoder import encoded
from harness.runner import Run
from harness.targets import TargetSpec
from harness.verdicts.reach import NOTHING, Reach

TOOLS = frozenset(
    {*script_grammar.TOOLS, *children_grammar.TOOLS, children_grammar.TASK}
    | {"no_such_tool", "web_search"}
)
"""The tools that generated models call."""

State: TypeAlias = Literal["fails", "otherwise", "fixed", "stale", "doubtful"]
"""It still fails; it fails by another finding; it is fixed; it no longer applies; or the run is in
doubt."""

STATES: dict[State, str] = {
    "fails": "still failing",
    "otherwise": "failing otherwise",
    "fixed": "fixed",
    "stale": "no longer applying",
    "doubtful": "in doubt",
}
"""The states as the report counts them."""

EXAMPLE = 0
"""The number of an example that is taken up; those of the campaign begin at 1."""


class TakenExample(msgspec.Struct, frozen=True, omit_defaults=True):
    """An example to take up: the scenario's `text`, and what it showed. `is_shrunk`: it is small
    already."""

    name: str
    text: str
    finding: Finding
    is_shrunk: bool = False


class TakenUp(msgspec.Struct, frozen=True, kw_only=True, tag="taken"):
    """The line of the journal with all examples to take up; a resume needs no place then."""

    examples: tuple[TakenExample, ...]


class ReplayTask(CampaignTask, frozen=True, kw_only=True, tag="replay"):
    """The task of playing a taken example, by its number in the list."""

    number: int
    taken: TakenExample


class Replayed(msgspec.Struct, frozen=True, kw_only=True, tag="replayed", omit_defaults=True):
    """What a taken example came to; `reason` says why, and `shown` is the finding if it fails."""

    number: int
    name: str
    state: State
    reason: str = ""
    shown: ShrunkFinding | None = None
    reach: Reach = NOTHING


class TakenExamples:
    """The examples that a campaign takes up, and what they came to so far."""

    def __init__(self) -> None:
        self.examples: tuple[TakenExample, ...] = ()
        self.results: dict[int, Replayed] = {}
        self._begun: set[int] = set()

    def next(self) -> tuple[int, TakenExample] | None:
        """Return an example that is not played yet, with its number, and mark it as begun."""
        for number, taken in enumerate(self.examples):
            if number not in self._begun and number not in self.results:
                self._begun.add(number)
                return number, taken
        return None

    def counts(self) -> dict[State, int]:
        """Return how many came to each state."""
        found = Counter(result.state for result in self.results.values())
        return {state: found[state] for state in STATES}


def replayed(task: ReplayTask, target: TargetSpec) -> Replayed:
    """Play a taken example, and shrink it if that was not done."""
    try:
        scenario = _scenario_of(task)
        played = run_of(scenario, target, compare=task.taken.finding.code == WRITING)
    except (InputError, HarnessError) as error:
        return _result(task, "stale", str(error))
    result = _judged(task, scenario, played, target)
    return msgspec.structs.replace(result, reach=Reach.of(played.history, played.verdict))


def lost(task: ReplayTask) -> Replayed:
    """Return the result of an example that ended each process that played it."""
    return _result(task, "doubtful", "its process ended")


def _result(task: ReplayTask, state: State, reason: str = "") -> Replayed:
    return Replayed(number=task.number, name=task.taken.name, state=state, reason=reason)


def _judged(task: ReplayTask, scenario: Scenario, played: Run, target: TargetSpec) -> Replayed:
    before = task.taken.finding
    found = _found(played, before)
    if found is None:
        if played.verdict.doubts:
            return _result(task, "doubtful", played.verdict.doubts[0])
        lack = _lack(played.verdict, before)
        return _result(task, "stale", lack) if lack else _result(task, "fixed")
    if is_of_the_scenario(scenario, found.code, target):
        return _result(task, "stale", f"the reference agent shows {found.code} too")
    same = found.code == before.code
    small = task.taken.is_shrunk and same
    shown = _as_it_is(scenario, found) if small else _shrunk(task, scenario, found, target)
    result = _result(task, "fails" if same else "otherwise", "" if same else found.code)
    return msgspec.structs.replace(result, shown=shown)


def _found(played: Run, before: Finding) -> Finding | None:
    """Return the finding as it was, else one of its code, else another cause of the run."""
    shown = genuine(played)
    alike = [one for one in shown if one.code == before.code]
    same = [one for one in alike if one.group == before.group]
    return next(iter((*same, *alike, *causes_of(played))), None)


def _lack(verdict: Verdict, before: Finding) -> str:
    """Return why the run did not ask what the example had failed; empty if it did."""
    asked = {"run", before.check, before.code}
    return next((lack.reason for lack in verdict.not_applicable if lack.check in asked), "")


def _as_it_is(scenario: Scenario, found: Finding) -> ShrunkFinding:
    name = name_of(found)
    return ShrunkFinding(
        finding=found,
        example=EXAMPLE,
        name=name,
        text=scenario_yaml(msgspec.structs.replace(scenario, name=name)),
        turns=model_messages(scenario),
        faults=len(scenario.faults),
    )


def _shrunk(
    task: ReplayTask, scenario: Scenario, found: Finding, target: TargetSpec
) -> ShrunkFinding:
    shared = {name: getattr(task, name) for name in CampaignTask.__struct_fields__}
    work = ShrinkTask(found=RawFinding(found, EXAMPLE, ()), **shared)
    return shrunk_from(scenario, work, target)


def _scenario_of(task: ReplayTask) -> Scenario:
    """Return the scenario of a taken example, for this agent. Raises InputError for one that this
    version cannot read, or that no campaign has written."""
    with scratch_folder() as folder:
        file = folder / f"{UNNAMED}.yaml"
        write_atomically(file, encoded(task.taken.text), durable=False)
        try:
            found = load_scenarios(file)
        except InputError as error:
            raise InputError(error.what, error.place.replace(str(file), task.taken.name)) from None
    scenario = found[0]
    for reason in (*(["it holds several runs"] if len(found) > 1 else ()), *_foreign(scenario)):
        raise InputError(f"no campaign has written it: {reason}", task.taken.name)
    limits = _least(scenario.limits, LIMITS)
    scenario = msgspec.structs.replace(scenario, limits=limits, profile=task.profile, folder="")
    return scenario.failing_on(task.fail_on)


def _foreign(scenario: Scenario) -> Iterator[str]:
    """Yield what a scenario has that none of a campaign has."""
    if isinstance(scenario.script, CassetteScript) or scenario.session.file is not None:
        yield "it names a file"
        return
    for name in sorted({*_called(scenario), *scenario.tools} - TOOLS):
        yield f"it has the tool {name!r}"


def _called(scenario: Scenario) -> Iterable[str]:
    """Yield the names of the tools that the model calls."""
    for turn in () if isinstance(scenario.script, CassetteScript) else scenario.script:
        yield from (turn.use,) if turn.use is not None else ()
        yield from (str(b.get("name")) for b in turn.blocks if "tool_use" in str(b.get("type")))


def _least(limits: Limits, most: Limits) -> Limits:
    """Return the smaller of each limit."""
    names = Limits.__struct_fields__
    return Limits(**{name: min(getattr(limits, name), getattr(most, name)) for name in names})
