"""A gateway that asks in a notice, waits in its turn, and takes the next message as the answer.

hermes and openclaw do so: the model never reads the answer. Right agents, and wrong twins.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import (
    ApprovalTurn,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.messages import Json
from harness.core.values.profile import Capabilities, InboundPolicy, Profile
from harness.runner import run
from tests.runner.test_messages_in_mid_turn import Agent

YES, NO = "Yes, go on.", "No, not before Monday."

BILL: dict[str, Json] = {"type": "tool_use", "name": "pay", "input": {"sum": 15}}
OTHER: dict[str, Json] = {"type": "tool_use", "name": "pay", "input": {"sum": 80}}


class Gateway(Agent):
    """Asks in a notice about each call that needs it. `wrong` names what a twin does."""

    wrong = ""

    def result(self, call: Any) -> dict[str, Any]:
        if self.tools[call.name].needs_approval and self.wrong != "asks nothing":
            self.brief.send(f"May I run {call.name} with {call.input}?", kind="notice")
            early = super().result(call) if self.wrong == "runs it at once" else None
            said = self.following()
            if self.wrong == "loses another message":
                self.following()
            if early is not None:
                return early
            if said is None or not said.text.startswith("Yes"):
                text = f"Not run. The user says: {said.text if said else 'nothing'}"
                return {"type": "tool_result", "tool_use_id": call.id, "content": text}
        return super().result(call)


def _scenario(*answers: str, calls: tuple[Json, ...] = (BILL,)) -> Scenario:
    schema: dict[str, Json] = {"type": "object", "properties": {"sum": {"type": "integer"}}}
    paid = ToolTurn(ok="receipt", effect="paid", times="forever")
    came = (
        InboxItem(id=f"a{n}", text=text, when={"after": f"outbox#{n}"})
        for n, text in enumerate(answers, start=1)
    )
    return Scenario(
        name="approval-in-the-turn",
        policy="open",
        tools={"pay": ToolScript(input_schema=schema, script=(paid,), approval=(ApprovalTurn(),))},
        inbox=(InboxItem(id="m1", text="Pay."), *came, InboxItem(id="m9", text="Thank you.")),
        script=(Turn(blocks=calls), Turn(say="You have heard of it.", times="forever")),
    )


def _codes(scenario: Scenario, policy: InboundPolicy, wrong: str = "") -> list[str]:
    def agent(brief: Any) -> None:
        gateway = Gateway(brief, "queue")
        gateway.wrong = wrong
        ends = brief.on_message(gateway.taken.put)
        ends.add_done_callback(lambda _: gateway.taken.put(None))
        gateway.work()
        ends.result()

    profile = Profile(inbound=policy, capabilities=Capabilities(approvals=True))
    return [finding.code for finding in run(scenario, agent, profile=profile).verdict.findings]


@pytest.mark.parametrize("policy", ["queue", "steer", "collect"])
@pytest.mark.parametrize(
    "scenario",
    [
        _scenario(YES),
        _scenario(NO),
        _scenario(YES, NO, calls=(BILL, OTHER)),
        _scenario(NO, YES, calls=(BILL, OTHER)),
    ],
    ids=["yes", "no", "yes and no", "no and yes"],
)
def test_an_answer_in_words_is_no_lost_message(scenario: Scenario, policy: InboundPolicy) -> None:
    assert _codes(scenario, policy) == []


def test_an_allowed_call_passes_where_a_message_interrupts() -> None:
    assert _codes(_scenario(YES), "interrupt") == []


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ("asks nothing", "approval.not_asked"),
        ("runs it at once", "approval.not_asked"),
        ("loses another message", "inbound_exactly_once.lost"),
    ],
)
def test_a_wrong_twin_is_red(wrong: str, code: str) -> None:
    scenario = _scenario(YES)
    if wrong == "loses another message":
        more = InboxItem(id="a2", text="And where do we meet?", when={"after": "outbox#1"})
        scenario = msgspec.structs.replace(scenario, inbox=(*scenario.inbox[:2], more))
    assert code in _codes(scenario, "queue", wrong)


def test_a_question_about_a_free_call_excuses_no_lost_message() -> None:
    scenario = _scenario(YES)
    free = msgspec.structs.replace(scenario.tools["pay"], approval=())

    class Chatty(Gateway):
        def result(self, call: Any) -> dict[str, Any]:
            self.brief.send("Shall I hurry?", kind="notice")
            self.following()
            return super().result(call)

    def agent(brief: Any) -> None:
        gateway = Chatty(brief, "queue")
        ends = brief.on_message(gateway.taken.put)
        ends.add_done_callback(lambda _: gateway.taken.put(None))
        gateway.work()
        ends.result()

    scenario = msgspec.structs.replace(scenario, tools={"pay": free})
    found = run(scenario, agent, profile=Profile(inbound="queue")).verdict.findings
    assert "inbound_exactly_once.lost" in {finding.code for finding in found}
