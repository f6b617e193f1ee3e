"""Chats of a message a line: rows of home-made stores, alone or in an envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.checks.judge import judge
from harness.core.values.errors import InputError
from harness.recordings.recognition import format_named, read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from tests.recordings.documents import ASKED, SEEN, anthropic_messages, openai_messages

CHAT_ROWS = format_named("chat_rows")
Row = dict[str, Any]

ITEMS: list[Row] = [
    {"role": "user", "content": ASKED},
    {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": SEEN},
    {"role": "assistant", "content": "two files"},
]


def rows(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.mark.parametrize("messages", [openai_messages(), anthropic_messages(), ITEMS])
@pytest.mark.parametrize("envelope", [False, True])
def test_rows_of_any_api_are_one_session(messages: list[Row], envelope: bool) -> None:
    held = [{"ts": n, "message": one} if envelope else one for n, one in enumerate(messages)]
    recording = read(rows(*held))
    (transcript,) = recording.transcripts
    assert recording.format == "chat_rows"
    found = counts(transcript)
    assert (found["tool_calls"], found["tool_results"], found["unanswered_calls"]) == (1, 1, 0)
    assert judge(to_history(transcript)).verdict == "pass"


@pytest.mark.parametrize("name", ["session_id", "thread_id", "conversationId"])
def test_rows_that_name_their_session_are_told_apart(name: str) -> None:
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    mixed = [{**row, name: session} for row in said for session in ("x", "y")]
    found = CHAT_ROWS.read(rows(*mixed)).transcripts
    assert [(t.name, [m.text for m in t.messages]) for t in found] == [
        ("x", ["a", "b"]),
        ("y", ["a", "b"]),
    ]


@pytest.mark.parametrize("name", ["text", "message"])
def test_words_may_stand_under_another_name(name: str) -> None:
    data = rows({"role": "user", name: "Hello"}, {"role": "assistant", name: "Hi"})
    (transcript,) = read(data).transcripts
    assert [message.text for message in transcript.messages] == ["Hello", "Hi"]


def test_events_between_the_messages_are_noted() -> None:
    header, event = {"type": "session", "version": 1}, {"type": "usage", "tokens": {"input": 3}}
    recording = read(rows(header, *openai_messages()[:3], event, *openai_messages()[3:]))
    assert recording.notes == (
        "line 1: holds no message, skipped",
        "line 5: holds no message, skipped",
    )
    assert recording.doubts == ()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "tool_result", "name": "ls", "result": SEEN},
        {"type": "step", "event": {"type": "tool.call", "args": {}}},
        {"kind": "end", "toolCallId": "c1", "output": SEEN},
    ],
)
def test_an_event_that_may_be_a_call_makes_the_session_doubtful(event: Row) -> None:
    (transcript,) = read(rows(*openai_messages()[:3], event)).transcripts
    assert "is not understood" in transcript.unread[0]
    assert judge(to_history(transcript)).verdict == "unknown"


def test_a_damaged_row_costs_itself_and_a_doubt() -> None:
    data = rows(*openai_messages()) + b'{"role": "user", "con\n' + rows(*openai_messages()[1:])
    recording = read(data)
    assert recording.doubts == ("line 6: not a JSON object, skipped",)
    assert len(recording.transcripts[0].messages) == 9


@pytest.mark.parametrize(
    "data",
    [
        b"",
        rows({"role": "admin", "content": "x"}, {"role": "guest", "content": "y"}),
        rows({"role": "user", "name": "ann"}),
        rows({"user": "a", "assistant": "b"}),
    ],
)
def test_rows_without_a_speaker_are_not_a_chat(data: bytes) -> None:
    assert not CHAT_ROWS.recognises(data)


def test_the_log_of_a_known_program_is_not_read_by_its_rows_alone() -> None:
    kimi = {"type": "metadata", "protocol_version": "1.4"}
    with pytest.raises(InputError, match="looks like Kimi CLI"):
        read(rows(kimi, {"type": "append", "message": {"role": "user", "content": "hi"}}))
