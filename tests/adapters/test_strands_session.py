"""The past of a scenario as messages of strands-agents, and its questions, without it."""

from __future__ import annotations

import asyncio
import base64
from types import SimpleNamespace
from typing import Any

import pytest

from harness import Message, Text, Thinking, ToolResult, ToolUse, assistant, results, user
from harness.adapters.strands_session import Chat, _ask, _holds, _open, _row, _rows, _wire_of
from harness.core.values.calls import Approval
from harness.core.values.messages import Opaque

PICTURE = Opaque(
    "image", {"source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}
)


def _made(*past: Message) -> list[Any]:
    return [(row["role"], row["content"]) for message in past for row in _rows(message)]


def test_a_past_becomes_messages_and_results_are_of_the_user() -> None:
    said = assistant(Thinking("I look.", "sig"), Text("I look."), ToolUse("c1", "look", {"at": 1}))
    told = results(ToolResult("c1", "a cat"), ToolResult("c2", "none", is_error=True))
    call = {"toolUseId": "c1", "name": "look", "input": {"at": 1}}
    good = {"toolUseId": "c1", "status": "success", "content": [{"text": "a cat"}]}
    bad = {"toolUseId": "c2", "status": "error", "content": [{"text": "none"}]}
    assert _made(user("Look."), said, told) == [
        ("user", [{"text": "Look."}]),
        ("assistant", [{"text": "I look."}, {"toolUse": call}]),
        ("user", [{"toolResult": good}, {"toolResult": bad}]),
    ]


def test_a_picture_stays_a_picture_and_an_unknown_block_is_refused() -> None:
    picture = {"format": "png", "source": {"bytes": base64.b64decode("iVBORw0=")}}
    assert _made(Message("user", (PICTURE,))) == [("user", [{"image": picture}])]
    with pytest.raises(TypeError, match="of the kind search_result"):
        _made(Message("user", (Opaque("search_result", {}),)))


def test_a_message_of_the_user_is_known_by_its_id() -> None:
    bot = SimpleNamespace(messages=[{"role": "user", "content": []}])
    assert not _holds(bot, "m1")
    bot.messages.append(_row(SimpleNamespace(id="m1", text="Hello.")))
    assert _holds(bot, "m1")
    assert not _holds(bot, "m2")


@pytest.mark.parametrize("activated", [True, False])
def test_the_questions_of_a_run_that_waits_are_open(activated: bool) -> None:
    asked = SimpleNamespace(response=None)
    state = SimpleNamespace(activated=activated, interrupts={"i1": asked})
    assert _open(SimpleNamespace(_interrupt_state=state)) == ([asked] if activated else [])


@pytest.mark.parametrize(
    ("said", "cancelled", "input"),
    [
        (Approval("c1", "allow", {"sum": 5}), False, {"sum": 5}),
        (Approval("c1", "allow", {"sum": 6}), False, {"sum": 6}),
        (Approval("c1", "deny", reason="No."), "Not run. The user says: No.", {"sum": 5}),
    ],
)
def test_what_the_user_says_decides_the_call(said: Approval, cancelled: Any, input: Any) -> None:
    use = {"toolUseId": "c1", "name": "pay", "input": {"sum": 5}}
    questions: list[Any] = [SimpleNamespace(id="i1", reason=use, response=None)]

    async def ask_async(name: str, input: Any, *, id: str, session: str) -> Approval:
        return said

    chat = Chat(SimpleNamespace(tools=[], ask_async=ask_async), lambda tools, kept: None, None, {})
    (answer,) = asyncio.run(chat._asked(questions, "main"))
    response = answer["interruptResponse"]["response"]
    event = SimpleNamespace(
        tool_use=use, cancel_tool=False, interrupt=lambda name, reason: response
    )
    _ask(event)
    assert (event.cancel_tool, event.tool_use["input"]) == (cancelled, input)
    assert use["input"] == {"sum": 5}  # the answer of the model stays as it was


def test_a_question_that_has_its_answer_is_not_asked_again() -> None:
    asked: list[Any] = [SimpleNamespace(id="i1", reason={"toolUseId": "c1"}, response={"id": "c1"})]
    chat = Chat(SimpleNamespace(tools=[]), lambda tools, kept: None, None, {})
    answer = {"interruptResponse": {"interruptId": "i1", "response": {"id": "c1"}}}
    assert asyncio.run(chat._asked(asked, "main")) == [answer]


def test_the_class_of_a_model_tells_its_wire() -> None:
    mine = type("Mine", (type("AnthropicModel", (), {}),), {})
    assert _wire_of(mine()) == "anthropic"
    assert _wire_of(type("OpenAIModel", (), {})()) == "openai-chat"
    assert _wire_of(type("BedrockModel", (), {})()) == ""
