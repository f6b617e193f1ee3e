"""Children in the background are drawn, and a campaign finds agents that are wrong about them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from random import Random
from typing import get_args

import msgspec
import pytest

from harness.agent import agent
from harness.core.history.trace import children
from harness.core.scenario.scenario import RequestText, Scenario, Turn
from harness.core.values.profile import ChildPolicy, Profile
from harness.fuzz.children_grammar import (
    CHILDREN_MOST,
    ENDS,
    HAPPENS,
    LAST_MESSAGE,
    NONE,
    TASK,
    Children,
    children_of,
    with_children,
)
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.example import draw, genuine, options_of, run_of
from harness.fuzz.scenario_grammar import Options, scenario_of
from harness.fuzz.script_grammar import LAST, SUMMARY
from harness.shrink import FindingOracle, shrink
from harness.targets import TargetSpec, of_callable
from tests import mutants

SCRIPT = (Turn(say="Yes.", optional=True), LAST, SUMMARY)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Agents that fail say so in the log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def drawn_children(number: int) -> Children:
    return children_of(ChoiceSequence((), Random(number)))


def target_of(name: str, policy: ChildPolicy = "queue") -> TargetSpec:
    play = mutants.named(name).agent if name else agent
    return msgspec.structs.replace(of_callable(play), options={"background": policy})


def drawn(number: int, policy: ChildPolicy = "queue", **options: bool) -> Scenario:
    profile = Profile(children=policy)
    wanted = msgspec.structs.replace(options_of(target_of(""), profile=profile), **options)
    return draw((), Random(f"7 {number}"), wanted, profile=profile)[0]


def tasks_in(scenario: Scenario) -> int:
    return sum(turn.use == TASK for turn in scenario.script if isinstance(turn, Turn))


def test_the_simplest_answers_have_no_child_and_leave_the_script_as_it_is() -> None:
    assert children_of(lambda n: 0) == NONE
    assert with_children(SCRIPT, NONE) == SCRIPT
    assert scenario_of(lambda n: 0, Options(children=True)) == scenario_of(lambda n: 0, Options())


def test_each_number_of_children_each_end_and_each_event_is_drawn() -> None:
    found = [drawn_children(number) for number in range(300)]
    assert {len(each.calls) for each in found} == set(range(CHILDREN_MOST + 1))
    assert all(any(each.happens is happens for each in found) for happens in HAPPENS[2:])
    said = {turn.say for each in found for turn in each.turns}
    assert said >= {end[-1].say for end in ENDS}


def test_the_turns_of_a_child_stand_behind_each_turn_of_its_parent() -> None:
    for number in range(60):
        plan = drawn_children(number)
        script = with_children(SCRIPT, plan)
        if not plan.calls:
            continue
        own = [turn for turn in script if isinstance(turn.when, RequestText)]
        assert set(map(id, own)) == set(map(id, plan.turns))
        for place in range(len(script) - 1):
            if script[place] not in (*plan.turns, SUMMARY) and script[place + 1] is not SUMMARY:
                assert script[place + 1] in plan.turns
        assert script[-1] == LAST


def test_what_a_run_cannot_show_is_left_out() -> None:
    for happens in HAPPENS:
        plan = Children(happens=happens)
        kinds = {fault.kind for fault in happens}
        assert {fault.kind for fault in plan.faults(stream=True, kills=True)} == kinds
        bare = {fault.kind for fault in plan.faults(stream=False, kills=False)}
        assert bare == kinds - {"gateway.killed", "sse.end_twice"}


def test_only_an_agent_with_such_children_is_given_them() -> None:
    profile = Profile()
    options = options_of(target_of(""), profile=profile)
    scenarios = [draw((), Random(f"7 {n}"), options, profile=profile)[0] for n in range(60)]
    assert not any(map(tasks_in, scenarios))
    with_some = [scenario for scenario in map(drawn, range(60)) if tasks_in(scenario)]
    assert len(with_some) > 15
    assert all(scenario.inbox[-1] == LAST_MESSAGE for scenario in with_some)
    assert not any(scenario.expect.outcome for scenario in with_some)


def _findings(policy: ChildPolicy, numbers: range) -> Iterator[tuple[int, list[str], int]]:
    """The findings of the reference agent, and how many children it had, by example."""
    for number in numbers:
        played = run_of(drawn(number, policy), target_of("", policy))
        found = [finding.code for finding in genuine(played)]
        yield number, found, len(children(played.history.trace))


@pytest.mark.real
@pytest.mark.parametrize("policy", get_args(ChildPolicy))
def test_the_reference_agent_passes_a_campaign_with_children(policy: ChildPolicy) -> None:
    played = list(_findings(policy, range(40)))
    assert [(number, codes) for number, codes, _ in played if codes] == []
    assert sum(count for _, _, count in played) > 10


WRONG = {
    "tells_of_a_child_twice": ("child_result.doubled", 25),
    "prunes_lost_children": ("child_result.untold", 25),
    "drops_what_ends_in_mid_turn": ("child_result.untold", 120),
}
"""Wrong agents: the code of each, and in how many examples it is found at the latest."""


def found_by(name: str) -> Scenario:
    """The first scenario of a campaign that shows the code of a wrong agent."""
    code, examples = WRONG[name]
    for number in range(examples):
        scenario = drawn(number)
        if code in {finding.code for finding in genuine(run_of(scenario, target_of(name)))}:
            return scenario
    raise AssertionError(f"{examples} examples do not show {code}")


def test_a_lost_child_of_which_no_one_is_told_is_found() -> None:
    assert tasks_in(found_by("prunes_lost_children"))


@pytest.mark.real
@pytest.mark.parametrize("name", WRONG)
def test_what_is_found_becomes_small(name: str) -> None:
    code, _ = WRONG[name]
    scenario = found_by(name)
    shrunk = shrink(scenario, FindingOracle(scenario, target_of(name), code), tries_max=400)
    small = shrunk.scenario
    assert 1 <= tasks_in(small) <= 2
    assert len(small.script) <= 12
    assert len(small.inbox) <= 3
    assert len(small.faults) <= 2
