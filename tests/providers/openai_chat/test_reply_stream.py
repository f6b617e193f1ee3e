"""A streamed reply: which chunks it comes in, and what each of them says."""

from __future__ import annotations

import json

from harness.core.values.messages import Json, Text, Thinking, ToolUse
from harness.core.values.plans import Reply
from harness.providers.shared.sse import INPUT_CHARACTERS, pieces
from tests.providers.openai_chat.sdk import Mouth, written
from tests.providers.sends import joined


def test_a_stream_is_one_send_for_each_chunk() -> None:
    calls = (ToolUse("call_1", "read", {"path": "x" * 60}), ToolUse("call_2", "list", ""))
    sends = written(Reply((Thinking("hm"), Text("a" * 65), *calls), "tool_use"), stream=True)
    assert sends[-1].data == b"data: [DONE]\n\n"
    values = [_value(send.data) for send in sends[:-1]]
    assert {value["object"] for value in values} == {"chat.completion.chunk"}
    assert len({value["id"] for value in values}) == 1
    arguments = json.dumps(calls[0].input, separators=(",", ":"))
    parts = pieces(arguments, INPUT_CHARACTERS)
    assert len(parts) > 10
    assert [_delta(value) for value in values] == [
        {"role": "assistant", "content": "", "reasoning_content": "", "refusal": None},
        {"reasoning_content": "hm"},
        {"content": "a" * 64},
        {"content": "a"},
        {"tool_calls": [_named(0, "call_1", "read")]},
        *({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in parts),
        {"tool_calls": [_named(1, "call_2", "list")]},
        {},
        None,
    ]
    reasons = [c["finish_reason"] for value in values for c in value["choices"]]
    assert reasons == [None] * (6 + len(parts)) + ["tool_calls"]
    assert [send.head is not None for send in sends] == [True] + [False] * (len(sends) - 1)


def _value(data: bytes) -> dict[str, Json]:
    value: dict[str, Json] = json.loads(data.decode().removeprefix("data: "))
    return value


def _delta(value: dict[str, Json]) -> Json:
    return value["choices"][0]["delta"] if value["choices"] else None


def _named(index: int, id_: str, name: str) -> dict[str, Json]:
    function = {"name": name, "arguments": ""}
    return {"index": index, "id": id_, "type": "function", "function": function}


def test_a_very_long_text_comes_in_longer_pieces() -> None:
    sends = written(Reply((Text("x" * 1_000_000),)), stream=True)
    assert len(sends) == 2000 + 4
    assert len(_delta(_value(sends[1].data))["content"]) == 500


def test_an_answer_without_text_begins_with_none() -> None:
    sends = written(Reply((ToolUse("c", "f", {}),), "tool_use"), stream=True)
    assert _delta(_value(sends[0].data))["content"] is None
    assert json.loads(joined(written(Reply())))["choices"][0]["message"]["content"] is None


def test_usage_is_a_chunk_of_its_own_and_only_where_it_was_asked_for(mouth: Mouth) -> None:
    reply = Reply((Text("x"),), usage={"output_tokens": 9})
    *_, last = asked = mouth.chunks(reply, stream_options={"include_usage": True})
    assert [chunk.usage for chunk in asked[:-1]] == [None] * (len(asked) - 1)
    assert (last.choices, last.usage.completion_tokens) == ([], 9)
    assert last.usage.prompt_tokens > 0
    assert all(chunk.choices and chunk.usage is None for chunk in mouth.chunks(reply))
