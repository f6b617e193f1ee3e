"""Words that occur twice: a message, a reply or a call is not taken for an equal one.

The agent is the gateway of the examples, which answers in order, so each red run is a false one.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from examples.agents.careful_sync import agent as careful
from examples.agents.gateway import agent as gateway
from harness import load_scenarios
from harness.core.history.events import Called
from harness.core.scenario.scenario import (
    ApprovalTurn,
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    Turn,
)
from harness.core.values.calls import ApprovalRequest
from harness.core.values.profile import Profile
from harness.runner import run

SUMMARY_OF_OLD_WORDS = """\
name: old-words
dialect: anthropic-2023
window_tokens: 400
session:
  messages:
    - {role: user, content: "Good morning to you."}
    - {role: assistant, content: "Hello."}
    - {role: user, content: "What is my name?"}
    - {role: assistant, content: "Two paragraphs of words."}
inbox:
  - {text: "Thanks."}
  - {text: "What is my name?", when: {ms: 0}}
  - {text: "Are you there?"}
script: []
"""

RESULT_WITH_THE_WORDS = """\
name: words-of-a-result
tools:
  look: {script: [{ok: "first line, then: And the weather? and more", times: forever}]}
inbox:
  - {text: "Look."}
  - {text: "And the weather?", when: {after: "main/model#1"}}
script:
  - {use: look}
  - {say: "I looked."}
  - {say: "It rains."}
"""

ONE_ID_FOR_TWO_CALLS = """\
name: one-id
tools:
  look:
    approval: [{answer: expire, after_s: 30}, {input: {at: sea}}]
    script: [{ok: "seen", times: forever}]
inbox: [{text: "Look twice."}]
script:
  - blocks:
      - {type: tool_use, id: same, name: look, input: {at: hill}}
      - {type: tool_use, id: same, name: look, input: {at: lake}}
  - {say: "I looked."}
"""


ONE_ID_IN_A_PAST = """\
name: one-id-in-a-past
stream: true
purposes: {"^Summarise the conversation": compact}
session:
  messages:
    - {role: assistant, content: [{type: tool_use, id: old_3, name: look_up}]}
    - {role: user, content: [{type: tool_result, id: old_3}]}
    - role: assistant
      content: [{type: tool_use, id: old_3, name: look_up, input: {at: "9007199254740993"}}]
inbox: [{text: "<b>Bold</b>"}]
faults: [{kind: context.too_long_after_tools, must_fire: false}]
script:
  - {say: "Yes."}
  - {for: compact, say: "They", optional: true}
"""


def _codes(text: str, tmp_path: Any, agent: Any = gateway) -> list[str]:
    file = tmp_path / "one.yaml"
    file.write_text(text, "utf-8")
    [scenario] = load_scenarios(file)
    if agent is gateway:
        scenario = msgspec.structs.replace(scenario, profile=Profile(inbound="queue"))
    codes = [finding.code for finding in run(scenario, agent).verdict.findings]
    return [code for code in codes if code != "script.exhausted"]


@pytest.mark.parametrize(
    "text", [SUMMARY_OF_OLD_WORDS, RESULT_WITH_THE_WORDS, ONE_ID_FOR_TWO_CALLS]
)
def test_equal_words_are_those_of_another(text: str, tmp_path: Any) -> None:
    assert _codes(text, tmp_path) == []


def test_a_result_that_the_agent_made_up_may_be_left_out_of_a_summary(tmp_path: Any) -> None:
    assert _codes(ONE_ID_IN_A_PAST, tmp_path, careful) == []


def test_an_answer_has_the_id_that_was_asked_with() -> None:
    """A model may give an empty id, and an agent takes an answer with another one for that of
    another call."""
    said = list[str]()

    def agent(brief: Any) -> None:
        for message in brief.inbox():
            asked = [{"role": "user", "content": message.text}]
            tool = {"name": "look", "input_schema": {"type": "object"}}
            brief.anthropic().messages.create(model="m", max_tokens=9, messages=asked, tools=[tool])
            said.append(brief.ask("look", {"at": "sea"}).id)

    done = run(
        Scenario(
            name="no-id",
            tools={"look": ToolScript(approval=(ApprovalTurn(),))},
            inbox=(InboxItem(text="Look."),),
            script=(Turn(use="look", input={"at": "sea"}),),
        ),
        agent,
    )
    assert said == [""]
    asked = [e.request for e in done.history.events if isinstance(e, Called)]
    [question] = [request for request in asked if isinstance(request, ApprovalRequest)]
    assert question.id, "the history names the call"


def test_a_message_behind_a_cancelled_turn_is_not_cancelled() -> None:
    scenario = Scenario(
        name="behind",
        inbox=(
            InboxItem(text="One."),
            InboxItem(text="Hello.", session="side"),
            InboxItem(text="Two.", when={"ms": 1}),
        ),
        faults=(FaultSpec(kind="gateway.cancelled"),),
        script=(Turn(say="Done.", times="forever", optional=True),),
        profile=Profile(inbound="queue"),
    )
    done = run(scenario, gateway)
    assert [finding.code for finding in done.verdict.findings] == []
    ended = [
        e.request.status
        for e in done.history.events
        if hasattr(getattr(e, "request", None), "kind")
    ]
    assert ended.count("cancelled") == 1
