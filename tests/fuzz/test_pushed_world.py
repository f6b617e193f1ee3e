"""Campaigns find agents that are wrong about messages in mid-turn and about approvals.

What they find is shrunk to two messages, or to one call that needs an approval.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, get_args

import msgspec
import pytest

from examples.agents.anthropic_rows import Row, said
from examples.agents.gateway import Gateway
from harness.agent import agent
from harness.core.scenario.scenario import ApprovalTurn, Scenario
from harness.core.values.messages import canonical
from harness.core.values.profile import InboundPolicy, Profile
from harness.files import load_scenarios
from harness.files.scenario_text import scenario_yaml
from harness.fuzz.example import draw, genuine, options_of, run_of
from harness.fuzz.scenario_grammar import Options
from harness.shrink import FindingOracle, shrink
from harness.targets import TargetSpec, of_callable
from tests.examples.test_gateway import Forgets

STEERS = Profile(inbound="steer")


class AnswersTwice(Gateway):
    """Says its answer again, for the first message of a turn that has taken in another one."""

    def finish(self, inbound: Any, text: str, kind: str, status: str) -> None:
        super().finish(inbound, text, kind, status)
        if len(self.turn_messages) > 1:
            self.say(inbound, f"{text} Again.", kind, status)
            self.say(inbound, f"{text} Again.", kind, status)


class SteersTooLate(Gateway):
    """Takes in what came once its answer is given, and asks the model nothing about it."""

    def fold(self) -> None:
        """Take nothing in before the answer."""

    def finish(self, inbound: Any, text: str, kind: str, status: str) -> None:
        super().finish(inbound, text, kind, status)
        while (message := self.waiting.first(self.session)) is not None:
            if self.taken_from_queue(message):
                self.append(said("assistant", "Noted."))
                self.settle(message)


class RunsTheDenied(Gateway):
    """Runs a call that the user denied."""

    def approval(self, tool: str, call: Row) -> Any:
        answer = super().approval(tool, call)
        return answer and msgspec.structs.replace(answer, answer="allow")


class RunsTheShown(Gateway):
    """Runs the input that it has shown, where the user allowed another one."""

    def approval(self, tool: str, call: Row) -> Any:
        answer = super().approval(tool, call)
        return answer and msgspec.structs.replace(answer, input=call["input"])


class ForgetsTheAllowed(Gateway):
    """Takes an answer that allows a call for a denial."""

    def approval(self, tool: str, call: Row) -> Any:
        answer = super().approval(tool, call)
        return answer and msgspec.structs.replace(answer, answer="deny")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Agents that fail say so in the log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def target_of(kind: type[Gateway]) -> TargetSpec:
    target = of_callable(lambda brief: kind(brief).run())
    return msgspec.structs.replace(target, options={"inbound": "steer"})


OPTIONS = msgspec.structs.replace(
    options_of(target_of(Gateway), profile=STEERS),
    approvals=True, faults=(), cancels=False, damaged=False,
)  # fmt: skip


def drawn(number: int, options: Options = OPTIONS) -> Scenario:
    return draw((), Random(f"7 {number}"), options, profile=STEERS)[0]


def found_by(kind: type[Gateway], code: str, examples: int) -> Scenario:
    """The first scenario of a campaign that shows a code."""
    for number in range(1, examples + 1):
        scenario = drawn(number)
        if code in {finding.code for finding in genuine(run_of(scenario, target_of(kind)))}:
            return scenario
    raise AssertionError(f"{examples} examples do not show {code}")


PLANTED: dict[type[Gateway], tuple[str, int]] = {
    Forgets: ("inbound_exactly_once.lost", 5),
    AnswersTwice: ("outbound_once.twice", 5),
    SteersTooLate: ("inbound_exactly_once.lost", 5),
    RunsTheDenied: ("approval.denied", 40),
    RunsTheShown: ("approval.input", 40),
    ForgetsTheAllowed: ("no_false_stop.refused", 40),
}
"""Wrong agents: the code of each, and in how many examples it is found at the latest."""


def test_a_message_that_is_taken_and_lost_is_found() -> None:
    assert found_by(Forgets, *PLANTED[Forgets]).inbox


@pytest.mark.real
@pytest.mark.parametrize("kind", PLANTED, ids=lambda kind: kind.__name__)
def test_what_is_found_becomes_as_early_and_as_few_as_it_can(
    kind: type[Gateway], tmp_path: Path
) -> None:
    code, examples = PLANTED[kind]
    scenario = found_by(kind, code, examples)
    oracle = FindingOracle(scenario, target_of(kind), code)
    shrunk = shrink(scenario, oracle, tries_max=400)
    assert shrunk.minimal
    small = shrunk.scenario
    file = tmp_path / "small.yaml"
    file.write_text(scenario_yaml(small), "utf-8")
    (again,) = load_scenarios(file)
    found = run_of(msgspec.structs.replace(again, profile=STEERS), target_of(kind)).verdict.findings
    assert code in {finding.code for finding in found}
    asks = code.startswith(("approval.", "no_false_stop."))
    first, *later = [item.when for item in small.inbox]
    assert first == "idle"
    assert len(later) <= (0 if asks else 2)
    assert all(_is_early(when) for when in later)
    assert [len(tool.approval) for tool in small.tools.values()] == [int(asks)] * len(small.tools)
    assert len(small.tools) <= 1 >= len(small.faults)


class DropsWhatWaits(Gateway):
    """Empties its queue once a turn is over."""

    def finish(self, inbound: Any, text: str, kind: str, status: str) -> None:
        super().finish(inbound, text, kind, status)
        while (message := self.waiting.first(self.session)) is not None:
            self.waiting.drop(message)


def _gateway(kind: type[Gateway]) -> TargetSpec:
    return of_callable(lambda brief: kind(brief).run())


REFERENCE = of_callable(agent)

ELSEWHERE: tuple[tuple[InboundPolicy, InboundPolicy, TargetSpec, str], ...] = (
    ("queue", "queue", _gateway(DropsWhatWaits), "inbound_exactly_once.lost"),
    ("queue", "steer", _gateway(Gateway), "inbound_exactly_once.early"),
    ("interrupt", "interrupt", _gateway(DropsWhatWaits), "inbound_exactly_once.lost"),
    ("collect", "steer", REFERENCE, "inbound_exactly_once.early"),
)
"""Agents by the policy of their profile and by what they do, and the code that tells them apart."""


def _examples(
    policy: InboundPolicy, does: InboundPolicy, target: TargetSpec, numbers: range
) -> Iterator[tuple[int, list[str]]]:
    """The codes of each example of a campaign under a policy."""
    profile, target = Profile(inbound=policy), msgspec.structs.replace(
        target, options={"inbound": does}
    )  # fmt: skip
    options = msgspec.structs.replace(
        options_of(target, profile=profile),
        approvals=True, faults=(), cancels=False, damaged=False,
    )  # fmt: skip
    for number in numbers:
        scenario = draw((), Random(f"7 {number}"), options, profile=profile)[0]
        yield number, [finding.code for finding in genuine(run_of(scenario, target))]


@pytest.mark.real
@pytest.mark.parametrize(("policy", "does", "target", "code"), ELSEWHERE)
def test_a_campaign_finds_it_under_the_other_policies(
    policy: InboundPolicy, does: InboundPolicy, target: TargetSpec, code: str
) -> None:
    assert any(code in found for _, found in _examples(policy, does, target, range(1, 41)))


@pytest.mark.real
@pytest.mark.parametrize("policy", get_args(InboundPolicy))
def test_the_reference_agent_passes_a_campaign_under_each_policy(policy: InboundPolicy) -> None:
    found = _examples(policy, policy, REFERENCE, range(1, 13))
    assert [(number, codes) for number, codes in found if codes] == []


def test_what_comes_beside_tools_comes_where_each_of_them_needs_an_approval() -> None:
    """The user allows the first call, so that the tool runs and the message comes."""
    gated = [
        scenario
        for scenario in map(drawn, range(300))
        if all(tool.approval for tool in scenario.tools.values())
        and any(item.when == {"after": "tool#1"} for item in scenario.inbox)
    ]
    assert len(gated) > 5
    assert {scenario.tools["look_up"].approval[0] for scenario in gated} == {ApprovalTurn()}


def _is_early(when: object) -> bool:
    """A message comes in the first step of a turn: after its first answer, or beside it."""
    early_ms = 100
    match when:
        case {"after": "model#1"}:
            return True
        case {"ms": int(ms)}:
            return ms < early_ms
    return False


def test_a_pushed_world_has_messages_in_mid_turn_and_all_answers_of_a_user() -> None:
    moments: Counter[str] = Counter()
    answers: set[str] = set()
    for number in range(300):
        scenario = drawn(number)
        moments.update(canonical(item.when) for item in scenario.inbox)
        turns = [turn for tool in scenario.tools.values() for turn in tool.approval]
        answers.update(turn.answer for turn in turns)
        answers.update(name for turn in turns for name in ("names",) if turn.names)
        answers.update("edit" for turn in turns if turn.input is not msgspec.UNSET)
        assert not any(tool.approval[-1].names for tool in scenario.tools.values() if tool.approval)
    assert answers == {"allow", "always", "deny", "expire", "names", "edit"}
    assert min(moments[f'{{"after":"{key}#1"}}'] for key in ("model", "tool")) > 20


def test_a_pulled_world_has_neither() -> None:
    options = msgspec.structs.replace(OPTIONS, pushed=False, approvals=False)
    scenarios = [drawn(number, options) for number in range(60)]
    assert not any(tool.approval for s in scenarios for tool in s.tools.values())
    assert not any(item.when == {"after": "tool#1"} for s in scenarios for item in s.inbox)
