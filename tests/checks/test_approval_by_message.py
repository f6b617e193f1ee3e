"""An agent that asks in a plain message whether a call may run, and takes the next as the answer.

The flow is that of pydantic-ai's deferred tools, of extra-org/extra#139 and of adk-python#6732.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness import Brief, InboxItem, Scenario, ToolScript, ToolTurn, Turn, run
from harness.core.values.messages import Json

DENIED = "The user denied it."


def _scenario(answer: str, say: str) -> Scenario:
    schema: dict[str, Json] = {"type": "object", "properties": {"sum": {"type": "integer"}}}
    free = {"type": "tool_use", "name": "look", "input": {}}
    gated = {"type": "tool_use", "name": "pay", "input": {"sum": 15}}
    return Scenario(
        name="approval-by-message",
        policy="open",
        tools={
            "pay": ToolScript(input_schema=schema, script=(ToolTurn(ok="paid 15", effect="paid"),)),
            "look": ToolScript(script=(ToolTurn(ok="one bill is open"),)),
        },
        inbox=(InboxItem(id="m1", text="Pay the bill."), InboxItem(id="m2", text=answer)),
        script=(Turn(blocks=(gated, free)), Turn(say=say)),
    )


ALLOWED = _scenario("Yes, go on.", "The bill is paid.")
REFUSED = _scenario("No, wait.", "Then I do not pay.")


class _Asking:
    """Runs free calls at once, and `pay` after the user's word. `wrong` names what it does."""

    def __init__(self, kind: str = "final", wrong: str = "") -> None:
        self.kind, self.wrong = kind, wrong

    def __call__(self, brief: Brief) -> None:
        self.client, self.tools = brief.anthropic(), {t.name: t for t in brief.tools}
        self.history: list[dict[str, Any]] = []
        calls: list[Any] = []
        for message in brief.inbox():
            if calls and self.wrong == "asks the model again":
                self.history.pop()  # the turn is played again from its message
                calls = [b for b in self._ask().content if b.type == "tool_use"]
                self.history.append({"role": "user", "content": self._results(calls, True)})
            elif calls and self.wrong != "forgets the question":
                said = message.text.startswith("Yes")
                self.history.append({"role": "user", "content": self._results(calls, said)})
            else:
                self.history.append({"role": "user", "content": message.text})
            reply = self._ask()
            if calls := [block for block in reply.content if block.type == "tool_use"]:
                words = f"May I run {calls[0].name} with {calls[0].input}?"
                brief.send(words, kind=self.kind, in_reply_to=message.id)  # type: ignore[arg-type]
            else:
                brief.send(reply.content[-1].text, in_reply_to=message.id)

    def _ask(self) -> Any:
        offered = [
            {"name": t.name, "description": t.name, "input_schema": t.input_schema}
            for t in self.tools.values()
        ]
        if self.wrong == "forgets the question" and len(self.history) == 3:
            self.history.pop(1)  # the calls that stand open are dropped
        reply = self.client.messages.create(
            model="m", max_tokens=500, messages=self.history, tools=offered
        )
        said = [block.model_dump(exclude_none=True) for block in reply.content]
        self.history.append({"role": "assistant", "content": said})
        return reply

    def _results(self, calls: list[Any], allowed: bool) -> list[Any]:
        results: list[Any] = []
        for call in calls:
            if call.name == "pay" and not allowed and self.wrong != "pays all the same":
                text = DENIED
            else:
                changed = call.name == "pay" and self.wrong == "pays another sum"
                given = {"sum": 1500} if changed else call.input
                text = self.tools[call.name].call(given, id=call.id)
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": text})
        return results


def _codes(scenario: Scenario, agent: _Asking) -> set[str]:
    return {finding.code for finding in run(scenario, agent).verdict.findings}


@pytest.mark.parametrize("kind", ["final", "notice", "partial", "error"])
@pytest.mark.parametrize("scenario", [ALLOWED, REFUSED])
def test_a_question_about_an_open_call_ends_no_turn(scenario: Scenario, kind: str) -> None:
    assert _codes(scenario, _Asking(kind)) == set()


def test_what_runs_after_the_question_is_what_the_model_asked_for() -> None:
    assert _codes(ALLOWED, _Asking(wrong="pays another sum")) == {"args_complete.changed"}


def test_a_call_that_nothing_answers_after_the_question_was_left_open() -> None:
    found = _codes(ALLOWED, _Asking(wrong="forgets the question"))
    assert {"truthful_outcome.unfinished", "no_false_stop.ended"} <= found


def test_the_call_that_the_user_read_is_the_one_that_runs_and_its_absence_is_the_cause() -> None:
    other = Turn(blocks=({"type": "tool_use", "name": "pay", "input": {"sum": 51}},))
    scenario = msgspec.structs.replace(
        ALLOWED, script=(ALLOWED.script[0], other, *ALLOWED.script[1:])
    )
    first, *others = run(scenario, _Asking(wrong="asks the model again")).verdict.findings
    assert first.code == "approval.another"
    assert {f.follows for f in others if f.class_ == "defect"} == {"approval.another"}
