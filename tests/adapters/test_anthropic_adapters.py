"""Adapters without their own framework: the SDK's tool runner, and functions of a text."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from harness.adapters import text_function, tool_runner
from harness.core.history.history import canonical
from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.values.brief import ToolError
from harness.runner import run
from harness.targets import of_callable

GREETING = Scenario(
    name="greeting",
    inbox=(InboxItem(text="Hello"), InboxItem(text="Again")),
    script=(Turn(say="Hello to you."), Turn(say="Again.")),
)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}


def _tools(*turns: ToolTurn) -> Scenario:
    return Scenario(
        name="order",
        inbox=(InboxItem(text="Order two."),),
        tools={"order": ToolScript(input_schema=SCHEMA, script=turns)},
        script=(Turn(use="order", input={"n": 2}), Turn(say="Ordered.")),
    )


def test_a_runner_that_is_at_hand_keeps_its_settings_and_plays_the_tools_of_the_scenario() -> None:
    client = anthropic.Anthropic(api_key="x")
    runner = client.beta.messages.tool_runner(
        model="claude-haiku-4-5", max_tokens=77, system="Be brief.", tools=[], messages=[],
        max_iterations=1,
    )  # fmt: skip
    made = run(_tools(ToolTurn(ok="ordered")), of_callable(runner))
    (first, *rest) = made.history.trace.exchanges
    assert not rest, "max_iterations is kept"
    assert (first.request.model, first.request.max_tokens) == ("claude-haiku-4-5", 77)
    assert b"Be brief." in canonical(made.history)
    whole = run(_tools(ToolTurn(ok="ordered")), tool_runner(max_tokens=77))
    assert whole.verdict.verdict == "pass", whole.verdict.findings
    failing = run(_tools(ToolTurn(error="no stock")), tool_runner())
    assert b"no stock" in canonical(failing.history)
    assert failing.verdict.verdict == "pass", failing.verdict.findings


def test_a_function_of_a_text_is_played_with_a_client_of_its_own() -> None:
    histories: dict[str, list[Any]] = {}

    def answer(text: str, session: str) -> str:
        client = anthropic.Anthropic(api_key="x")
        history = histories.setdefault(session, [])
        history.append({"role": "user", "content": text})
        reply = client.messages.create(model="any", max_tokens=50, messages=history)
        history.append({"role": "assistant", "content": reply.content[0].text})
        return str(reply.content[0].text)

    made = run(GREETING, of_callable(answer))
    assert made.verdict.verdict == "pass", made.verdict.findings
    assert len(histories["main"]) == 4


def test_an_asynchronous_function_of_a_text_need_not_remember() -> None:
    async def answer(text: str) -> str:
        client = anthropic.AsyncAnthropic(api_key="x")
        asked = [{"role": "user", "content": text}]
        reply = await client.messages.create(model="any", max_tokens=50, messages=asked)  # type: ignore[arg-type]
        return str(reply.content[0].text)

    made = run(GREETING, of_callable(answer))
    assert (made.verdict.verdict, made.verdict.findings) == ("pass", ())
    assert of_callable(answer).profile.wires == ("anthropic",)


def test_an_answer_that_is_no_text_is_a_crash_that_says_so() -> None:
    def answer(text: str) -> str:
        return 5  # type: ignore[return-value]

    made = run(GREETING, text_function(answer))
    (crash,) = [f for f in made.verdict.findings if f.code == "target.crashed"]
    assert "the function returns the answer as a str, not int" in crash.message


def test_each_failure_of_a_tool_is_one_kind_of_error() -> None:
    from harness.adapters import answer_of

    for error in (ToolError("a"), RuntimeError("a"), TimeoutError("a"), ConnectionError("a")):

        class Broken:
            def call(self, given: Any, *, id: str, error: Exception = error) -> str:
                raise error

        with pytest.raises(ToolError, match="a"):
            answer_of(Broken(), {})
