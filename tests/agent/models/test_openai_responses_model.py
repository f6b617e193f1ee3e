"""The model over the Responses API: what an answer says, whole or in pieces."""

from __future__ import annotations

import json

import pytest

from harness.agent.guards.guard_protocol import UNPARSED
from harness.agent.models.openai_responses_model import read_item, write_items
from harness.core.scenario.scenario import Turn
from harness.core.values.messages import Opaque, Text, Thinking, ToolUse, assistant
from harness.core.values.plans import Reply
from tests.agent.openai_responses_stand import STREAMS, answered, asked
from tests.providers.openai_responses.world import written
from tests.providers.sends import content_type, joined


@STREAMS
def test_an_answer_is_what_the_model_said(stream: bool) -> None:
    answer, shown = asked(
        stream, Turn(think="why", say="I look.", use="look", input={"at": "naïve"})
    )
    thought, text, call = answer.message.blocks
    assert (text, answer.stop) == (Text("I look."), "tool_use")
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature[:4]) == ("why", "gAAA")
    assert isinstance(call, ToolUse)
    assert (call.name, call.input) == ("look", {"at": "naïve"})
    assert "".join(shown) == "I look."


STOPS = {
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "end_turn": "end_turn",
    "steered": "steered",
}


@STREAMS
@pytest.mark.parametrize("stop", STOPS)
def test_it_says_why_it_stopped(stop: str, stream: bool) -> None:
    answer, _ = asked(stream, Turn(say="half", stop=stop))
    assert (answer.message, answer.stop) == (assistant("half"), STOPS[stop])
    assert answer.tokens > 0


@STREAMS
def test_a_refusal_is_shown_and_is_one(stream: bool) -> None:
    block = {"type": "text", "text": "No.", "extra": {"type": "refusal"}}
    answer, shown = asked(stream, Turn(blocks=(block,)))
    assert (answer.message, answer.stop) == (assistant("No."), "refusal")
    assert shown == ["No."]


@STREAMS
@pytest.mark.parametrize("text", ['{"path": "/a', "[1]", '"x"', "NaN"])
def test_arguments_that_are_no_object_are_wrapped(text: str, stream: bool) -> None:
    cut = Reply((ToolUse("c1", "look", "PLACE"),), "tool_use")
    sends = written(cut, stream)
    data = joined(sends).replace(b"PLACE", json.dumps(text)[1:-1].encode())
    (call,) = answered(data, content_type(sends))().message.tool_uses
    assert call.input == {UNPARSED: text}


@pytest.mark.parametrize("none", ["", "null"])
def test_no_arguments_at_all_are_an_empty_object(none: str) -> None:
    (block,) = read_item({"type": "function_call", "call_id": "c", "name": "n", "arguments": none})
    assert block == ToolUse("c", "n", {})


def test_an_item_of_another_kind_is_kept_and_sent_back_as_it_came() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    sends = written(Reply((Opaque("web_search_call", item), Text("found"))))
    message = answered(joined(sends), "application/json")().message
    assert message.blocks == (Opaque("web_search_call", item), Text("found"))
    assert next(write_items(message)) == item
    foreign = assistant(Opaque("server_tool_use", {"type": "server_tool_use"}))
    assert list(write_items(foreign)) == []
