"""Agents that are wrong in one thing each: the fault that was made for it brings it to light."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from harness.core.scenario.scenario import (
    Expect,
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.brief import ToolError
from harness.runner import run

Json = dict[str, Any]


class Small:
    """A small agent with a history in memory; what it does wrong is in what overrides it."""

    copies = True

    def __init__(self, brief: Any) -> None:
        self.brief, self.messages, self.known = brief, [], set[str]()
        self.client = brief.anthropic()
        self.tools = {tool.name: tool for tool in brief.tools}

    def run(self) -> None:
        """Serve the inbox."""
        for inbound in self.brief.inbox():
            if inbound.kind == "message" and not self.is_known(inbound):
                self.known.add(inbound.id)
                self.turn(inbound)

    def is_known(self, inbound: Any) -> bool:
        """Whether a message came before."""
        return inbound.id in self.known

    def turn(self, inbound: Any) -> None:
        """Work on one message."""
        self.messages.append({"role": "user", "content": inbound.text})
        while not self.is_over():
            reply = self.ask()
            self.messages.append({"role": "assistant", "content": reply})
            calls = [block for block in reply if block["type"] == "tool_use"]
            if not calls:
                return self.say(reply[0]["text"], inbound)
            self.messages.append({"role": "user", "content": [self.result(c) for c in calls]})
        self.messages.append({"role": "assistant", "content": "(cancelled)"})
        return self.brief.send("Cancelled.", kind="notice", status="cancelled")

    def is_over(self) -> bool:
        """Whether the user has had enough."""
        return bool(self.brief.cancelled())

    def ask(self) -> list[Json]:
        """What the model says."""
        tools = [
            {"name": t.name, "description": "", "input_schema": t.input_schema}
            for t in self.brief.tools
        ]
        answer = self.client.messages.create(
            model="m", max_tokens=99, messages=self.messages, tools=tools
        )
        return [block.to_dict() for block in answer.content]

    def result(self, call: Json) -> Json:
        """The result of a call."""
        said = {"type": "tool_result", "tool_use_id": call["id"]}
        try:
            content = self.call(call)
        except (ToolError, OSError, RuntimeError) as error:
            return {**said, "content": str(error), "is_error": True}
        return {**said, "content": (deepcopy(content) if self.copies else content) or "(nothing)"}

    def call(self, call: Json) -> Any:
        """Run a tool."""
        return self.tools[call["name"]].call(dict(call["input"]), id=call["id"])

    def say(self, text: str, inbound: Any) -> None:
        """Send a reply; without a confirmation, send it again with a note."""
        try:
            self.brief.send(text, in_reply_to=inbound.id)
        except TimeoutError:
            self.brief.send(f"You may have this already: {text}", in_reply_to=inbound.id)


class AnswersAgain(Small):
    """Takes what comes again for new."""

    def is_known(self, inbound: Any) -> bool:
        """Never."""
        return False


class GoesByTheText(Small):
    """Takes the same text for the same message."""

    def is_known(self, inbound: Any) -> bool:
        """By the text."""
        return any(m["content"] == inbound.text for m in self.messages)


class SaysItAgain(Small):
    """Sends the same text again without a confirmation."""

    def say(self, text: str, inbound: Any) -> None:
        """Twice, if need be."""
        try:
            self.brief.send(text)
        except TimeoutError:
            self.brief.send(text)


class NeverGivesUp(Small):
    """Looks for a cancel and goes on."""

    def is_over(self) -> bool:
        """Never."""
        self.brief.cancelled()
        return False


class LendsItsHistory(Small):
    """Gives a tool the very arguments that stand in its history."""

    def call(self, call: Json) -> Any:
        """Run a tool."""
        return self.tools[call["name"]].call(call["input"], id=call["id"])


class KeepsWhatToolsChange(Small):
    """Keeps what a tool returned, and not a copy of it."""

    copies = False


class RunsAgain(Small):
    """Runs a call again whose answer was lost."""

    def call(self, call: Json) -> Any:
        """Run a tool, twice if need be."""
        try:
            return super().call(call)
        except TimeoutError:
            return super().call(call)


SCENARIO = Scenario(
    name="small",
    tools={
        "pay": ToolScript(
            input_schema={"type": "object", "properties": {"order": {"type": "integer"}}},
            script=(ToolTurn(ok="paid", effect="payment", times="forever"),),
        )
    },
    inbox=(InboxItem(id="m1", text="Pay order 1."), InboxItem(id="m2", text="Good night.")),
    script=(
        Turn(use="pay", input={"order": 1}),
        Turn(use="pay", input={"order": 2}, optional=True),
        Turn(use="pay", input={"order": 3}, optional=True),
        Turn(say="This is what came of it.", optional=True),
        Turn(say="Good night.", times="forever", optional=True),
    ),
    expect=Expect(),
)

CASES: dict[type[Small], tuple[FaultSpec, str]] = {
    AnswersAgain: (FaultSpec(kind="gateway.redelivered", when=2), "inbound_exactly_once.twice"),
    GoesByTheText: (
        FaultSpec(kind="gateway.repeated_by_the_user", when=2),
        "outbound_once.missing",
    ),
    SaysItAgain: (FaultSpec(kind="gateway.confirmation_lost"), "outbound_once.unmarked"),
    NeverGivesUp: (
        FaultSpec(kind="gateway.cancelled", when={"after": "main/tool#1"}),  # type: ignore[arg-type]
        "cancel_honoured.request",
    ),
    LendsItsHistory: (FaultSpec(kind="tools.changes_its_input"), "append_only_prefix.messages"),
    KeepsWhatToolsChange: (
        FaultSpec(kind="tools.changes_its_answer"),
        "append_only_prefix.messages",
    ),
    RunsAgain: (FaultSpec(kind="tools.answer_lost"), "effect_once.effect"),
}


def _codes(agent: Callable[[Any], Small], fault: FaultSpec) -> set[str]:
    faults = (fault,)
    scenario = Scenario(**{**_fields(SCENARIO), "faults": faults})
    done = run(scenario, lambda brief: agent(brief).run())
    return {finding.code for finding in done.verdict.findings}


def _fields(scenario: Scenario) -> dict[str, Any]:
    return {name: getattr(scenario, name) for name in scenario.__struct_fields__}


@pytest.mark.parametrize("wrong", CASES)
def test_a_wrong_agent_is_caught(wrong: type[Small]) -> None:
    fault, code = CASES[wrong]
    assert code in _codes(wrong, fault)


@pytest.mark.parametrize("wrong", CASES)
def test_the_same_agent_without_the_mistake_passes(wrong: type[Small]) -> None:
    fault, _ = CASES[wrong]
    assert _codes(Small, fault) == set()
