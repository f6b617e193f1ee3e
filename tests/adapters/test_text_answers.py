"""A function from text to text has no word for a failure but its text and its exceptions."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from harness import InboxItem, Run, Scenario, Turn, run
from harness.adapters import text_function
from harness.adapters.text_answers import is_of_an_api
from harness.core.scenario.scenario import FaultSpec
from harness.targets.spec import of_callable

OVERLOADED = Scenario(
    name="overloaded",
    policy="open",
    inbox=(InboxItem(id="m1", text="Hello."), InboxItem(id="m2", text="Still there?")),
    script=(Turn(say="Hello to you."),),
    faults=(FaultSpec(kind="http.overloaded", when=1),),
)
CALL: dict[str, Any] = {"type": "tool_use", "name": "search", "input": {}}
ASKS = Scenario(
    name="asks",
    policy="open",
    inbox=(InboxItem(id="m1", text="Look it up."),),
    script=(Turn(blocks=({"type": "text", "text": "Let me look for that."}, CALL)),),
)

OFFER: Any = [{"name": "search", "input_schema": {"type": "object"}}]


def _ask(text: str) -> Any:
    said: Any = [{"role": "user", "content": text}]
    client = anthropic.Anthropic(max_retries=0)
    return client.messages.create(
        model="claude-sonnet-5", max_tokens=99, messages=said, tools=OFFER
    )


def lets_through(text: str) -> str:
    return str(_ask(text).content[0].text)


async def lets_through_later(text: str) -> str:
    return lets_through(text)


def raises_its_own(text: str) -> str:
    try:
        return lets_through(text)
    except anthropic.APIError as error:
        raise RuntimeError("the model is away") from error


def looks_into_a_dict(text: str) -> str:
    try:
        return lets_through(text)
    except anthropic.APIError:
        empty: dict[str, str] = {}
        return empty["text"]


def apologises(text: str) -> str:
    reply = _ask(text)
    return "Sorry, I cannot do this." if reply.stop_reason == "tool_use" else "Done."


def hands_on_a_part(text: str) -> str:
    return str(_ask(text).content[0].text)


def _play(scenario: Scenario, function: Any) -> Run:
    spec = of_callable(text_function(function))
    return run(scenario, spec)


@pytest.mark.parametrize("function", [lets_through, lets_through_later, raises_its_own])
def test_an_error_of_the_api_is_told_and_the_next_message_is_answered(function: Any) -> None:
    played = _play(OVERLOADED, function)
    assert (played.verdict.verdict, played.verdict.outcome) == ("pass", "failed_truthfully")
    said = [sending.request.text for sending in played.history.trace.sendings]
    assert len(said) == 2
    assert said[1] == "Hello to you."


def test_another_exception_is_a_crash() -> None:
    found = {f.code for f in _play(OVERLOADED, looks_into_a_dict).verdict.findings}
    assert "target.crashed" in found


def test_an_apology_is_no_unfinished_success() -> None:
    played = _play(ASKS, apologises)
    assert (played.verdict.findings, played.verdict.outcome) == ((), "failed_truthfully")


def test_words_of_the_model_before_a_call_are_passed_off() -> None:
    found = {f.code for f in _play(ASKS, hands_on_a_part).verdict.findings}
    assert found == {"truthful_outcome.unfinished"}


def test_an_agent_with_a_status_has_to_use_it() -> None:
    def agent(brief: Any) -> None:
        for message in brief.inbox():
            client, said = brief.anthropic(), [{"role": "user", "content": message.text}]
            client.messages.create(model="any", max_tokens=99, messages=said, tools=OFFER)
            brief.send("Sorry, I cannot do this.", in_reply_to=message.id)

    found = {f.code for f in run(ASKS, agent).verdict.findings}
    assert "truthful_outcome.unfinished" in found


@pytest.mark.parametrize("error", [KeyError("x"), TypeError("x"), ValueError("x")])
def test_errors_of_python_are_not_of_an_api(error: Exception) -> None:
    assert not is_of_an_api(error)


def test_an_error_that_was_only_handled_before_is_no_cause() -> None:
    error = KeyError("x")
    error.__context__ = anthropic.AnthropicError("away")
    assert not is_of_an_api(error)
    error.__cause__ = anthropic.AnthropicError("away")
    assert is_of_an_api(error)


THREE = Scenario(
    name="three",
    inbox=tuple(InboxItem(text=text) for text in ("What is red?", "And blue?", "And green?")),
    script=tuple(Turn(say=f"It is the colour of {what}.") for what in ("fire", "water", "grass")),
)


def _chat(keeps: int) -> Any:
    """A conversation that loses the answers after the first `keeps`."""
    said: list[dict[str, Any]] = []

    def answered(text: str) -> str:
        said.append({"role": "user", "content": text})
        client = anthropic.Anthropic(max_retries=0)
        reply = client.messages.create(model="any", max_tokens=99, messages=said)  # type: ignore[arg-type]
        text = reply.content[0].text  # type: ignore[union-attr]
        if sum(m["role"] == "assistant" for m in said) < keeps:
            said.append({"role": "assistant", "content": text})
        return text

    return answered


def told_a_session(text: str, session: str) -> str:
    return lets_through(text)


def test_a_function_without_a_session_need_not_remember() -> None:
    """One that does remember is asked, and so is one that is told the session."""
    codes = {
        name: {f.code for f in _play(THREE, function).verdict.failing}
        for name, function in (
            ("none", lets_through), ("all", _chat(9)), ("some", _chat(1)), ("told", told_a_session),
        )
    }  # fmt: skip
    forgotten = "history_faithful.forgotten_reply"
    assert codes["none"] == codes["all"] == set()
    assert forgotten in codes["some"]
    assert forgotten in codes["told"]


def test_a_function_that_gets_no_id_may_answer_a_message_that_comes_again() -> None:
    inbox = (InboxItem(id="m1", text="Hello."),) * 2
    scenario = Scenario(name="again", inbox=inbox, script=(Turn(say="Hello to you.", times=2),))
    ran = _play(scenario, lets_through)
    assert (ran.verdict.verdict, ran.connections.names_ids) == ("pass", False)
