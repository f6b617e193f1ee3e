"""Examples that are compared with their other writings, and the shrinking of what differs."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, Turn
from harness.fuzz.example import genuine, run_of
from harness.shrink import FindingOracle, shrink
from harness.targets import TargetSpec
from harness.targets.spec import of_callable

SHORT = Scenario(
    name="short",
    inbox=(InboxItem(text="one"), InboxItem(text="two"), InboxItem(text="three")),
    script=(Turn(say="A long answer."), Turn(say="Yes."), Turn(say="Another long answer.")),
)


def _answers(brief: Any, in_a_stream: str) -> None:
    """Answer each message; in a stream, say something else in place of "Yes."."""
    client, past = brief.anthropic(), list[Any]()
    asked: Any = {"model": "m", "max_tokens": 99, "messages": past}
    for message in brief.inbox():
        past.append({"role": "user", "content": message.text})
        if brief.options["stream"]:
            with client.messages.stream(**asked) as stream:
                said = stream.get_final_message().content[0].text
        else:
            said = client.messages.create(**asked).content[0].text
        past.append({"role": "assistant", "content": said})
        is_other = brief.options["stream"] and said == "Yes."
        brief.send(in_a_stream if is_other else said)


def _target(in_a_stream: str) -> TargetSpec:
    return of_callable(lambda brief: _answers(brief, in_a_stream))


@pytest.mark.parametrize("stream", [True, False])
def test_another_course_is_a_finding_of_an_example(stream: bool) -> None:
    scenario = msgspec.structs.replace(SHORT, stream=stream)
    target = _target("No.")
    assert not genuine(run_of(scenario, target))
    found = [finding.code for finding in genuine(run_of(scenario, target, compare=True))]
    assert found == ([] if stream else ["run.writing"]), "both writings of a stream are streams"
    assert not genuine(run_of(scenario, _target("Yes."), compare=True))


def test_an_example_with_faults_is_not_compared() -> None:
    faulty = msgspec.structs.replace(SHORT, faults=(FaultSpec(kind="http.overloaded"),))
    assert not genuine(run_of(faulty, _target("No."), compare=True))


def test_a_smaller_scenario_keeps_the_difference() -> None:
    keeps = FindingOracle(SHORT, _target("No."), "run.writing")
    small = shrink(SHORT, keeps).scenario
    assert [turn.say for turn in small.script if isinstance(turn, Turn)] == ["Yes."]
    assert len(small.inbox) == 1
    assert not keeps(msgspec.structs.replace(small, stream=True))
