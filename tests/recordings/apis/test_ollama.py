"""Ollama's own chat: lines of JSON, calls without ids, results that name their tool."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.providers.shared.codec import Unreadable
from harness.providers.shared.json_fields import UNREAD_CALL
from harness.recordings.apis.ollama import OLLAMA
from harness.recordings.recognition import read
from harness.recordings.transcript_counts import counts

KIND = "application/x-ndjson"


def lines(*pieces: dict[str, Any]) -> bytes:
    """The body of a stream."""
    return b"".join(json.dumps(piece).encode() + b"\n" for piece in pieces)


def piece(**message: Any) -> dict[str, Any]:
    """A line of a stream that goes on."""
    said = {"role": "assistant", "content": "", **message}
    return {"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": said, "done": False}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A call as the server writes it."""
    return {"function": {"name": name, "arguments": arguments}}


END = {**piece(), "done": True, "done_reason": "stop", "eval_count": 3}


def test_a_stream_is_put_together() -> None:
    body = lines(
        piece(thinking="Two "),
        piece(thinking="cities."),
        piece(content="I "),
        piece(content="look."),
        piece(tool_calls=[call("weather", city="Rome")]),
        piece(tool_calls=[call("weather", city="Oslo")]),
        END,
    )
    parsed = OLLAMA.answer(body, KIND)
    assert parsed.message == Message(
        "assistant",
        (
            Thinking("Two cities."),
            Text("I look."),
            ToolUse("answer weather#1", "weather", {"city": "Rome"}),
            ToolUse("answer weather#2", "weather", {"city": "Oslo"}),
        ),
    )
    assert (parsed.stop, parsed.complete) == ("stop", True)


@pytest.mark.parametrize("rest", [b"", b'{"model": "qwen3", "mess'])
def test_a_stream_that_is_cut_off_is_not_complete(rest: bytes) -> None:
    parsed = OLLAMA.answer(lines(piece(content="I ")) + rest, KIND)
    assert parsed.message == Message("assistant", (Text("I "),))
    assert not parsed.complete


def test_a_line_that_is_no_object_is_told() -> None:
    with pytest.raises(Unreadable, match="line 2 of the stream is not a JSON object"):
        OLLAMA.answer(lines(piece(content="a")) + b"[1]\n" + lines(END), KIND)


@pytest.mark.parametrize("before", [(), (piece(content="I "),)])
def test_an_error_ends_a_stream(before: tuple[dict[str, Any], ...]) -> None:
    parsed = OLLAMA.answer(lines(*before, {"error": "model runner has stopped"}), KIND)
    assert parsed.error is not None
    assert parsed.error.message == "model runner has stopped"
    assert (parsed.message is None, parsed.complete) == (not before, False)


def test_an_answer_without_streaming() -> None:
    answer = {**END, "message": {"role": "assistant", "content": "Hi."}}
    parsed = OLLAMA.answer(json.dumps(answer, indent=1).encode(), "application/json")
    assert (parsed.message, parsed.stop) == (Message("assistant", (Text("Hi."),)), "stop")


def test_a_call_without_a_name_is_told() -> None:
    parsed = OLLAMA.answer(lines(piece(tool_calls=[{"function": {"arguments": {}}}]), END), KIND)
    assert parsed.message is not None
    (block,) = parsed.message.blocks
    assert isinstance(block, Opaque)
    assert block.kind == UNREAD_CALL


ASKED = {
    "model": "qwen3",
    "options": {"num_predict": 90},
    "tools": [
        {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    ],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Rome and Oslo?", "images": ["aGk="]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [call("weather"), call("time"), call("time")],
        },
        {"role": "tool", "content": "noon", "tool_name": "time"},
        {"role": "tool", "content": "sun"},
        {"role": "tool", "content": "one", "tool_name": "time"},
        {"role": "tool", "content": "late", "tool_name": "weather"},
    ],
}


def test_results_answer_the_calls_of_the_tool_that_they_name() -> None:
    asked = OLLAMA.request(ASKED)
    assert asked is not None
    assert (asked.model, asked.max_tokens, asked.stream) == ("qwen3", 90, True)
    assert [tool.name for tool in asked.tools] == ["weather"]
    uses = [use.id for message in asked.messages for use in message.tool_uses]
    answers = [result.id for message in asked.messages for result in message.tool_results]
    assert uses == ["weather#1", "time#2", "time#3"]
    assert answers == ["time#2", "weather#1", "time#3", ""]
    given = OLLAMA.request({"messages": [{"role": "tool", "content": "a", "tool_call_id": "c"}]})
    assert given is not None
    assert given.messages[0].blocks == (ToolResult("c", "a"),)


def test_a_cassette_and_its_counts() -> None:
    cassette = {
        "interactions": [
            {
                "request": {
                    "method": "POST",
                    "uri": "http://localhost:11434/api/chat",
                    "headers": {},
                    "body": json.dumps({**ASKED, "messages": ASKED["messages"][:6]}),  # type: ignore[index]
                },
                "response": {
                    "status": {"code": 200, "message": "OK"},
                    "headers": {"Content-Type": [KIND]},
                    "body": {
                        "string": lines(
                            piece(content="Noon "), piece(content="there."), END
                        ).decode()
                    },
                },
            }
        ]
    }
    recording = read(json.dumps(cassette).encode(), "ollama.json")
    (transcript,) = recording.transcripts
    found = counts(transcript)
    assert recording.refusals == ()
    assert (transcript.wire, transcript.stream, transcript.complete) == ("ollama", True, True)
    assert (found["messages"], found["tool_calls"], found["tool_results"]) == (6, 3, 3)
    assert found["orphan_results"] == found["unanswered_calls"] == found["late_results"] == 0
    assert transcript.messages[-1] == Message("assistant", (Text("Noon there."),))
