"""Sessions of Qwen Code: the path to the last message, pieces of one id, compressions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, Thinking, ToolResult, ToolUse
from harness.recordings.recognition import format_named, format_of

QWEN_CODE = format_named("qwen_code")


def entry(id_: str, parent: str | None, *parts: Any, kind: str = "user", **more: Any) -> Any:
    """An entry with a message of these parts; a text stands for a part."""
    made = [{"text": part} if isinstance(part, str) else part for part in parts]
    role = "model" if kind == "assistant" else "user"
    linked = {"uuid": id_, "parentUuid": parent, "sessionId": "s", "type": kind}
    return {**linked, "message": {"role": role, "parts": made}, **more}


def log(*entries: Any) -> bytes:
    """Entries as a file."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in entries)


CALL = {"functionCall": {"id": "c1", "name": "ls", "args": {}}}
RESULT = {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "a.txt b.txt"}}}
TURN = (
    entry("a", None, "list the files"),
    entry("b", "a", {"text": "Look.", "thought": True}, kind="assistant", model="qwen3"),
    entry("b", "a", CALL, kind="assistant"),
    entry("c", "b", RESULT, kind="tool_result"),
    entry("d", "c", "two files", kind="assistant"),
)


def _texts(*entries: Any) -> list[str]:
    (found,) = QWEN_CODE.read(log(*entries)).transcripts
    return [message.text for message in found.messages]


def test_pieces_of_one_id_are_one_message() -> None:
    assert format_of(log(*TURN)) == "qwen_code"
    (found,) = QWEN_CODE.read(log(*TURN)).transcripts
    assert [message.role for message in found.messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert found.messages[1].blocks == (Thinking("Look."), ToolUse("c1", "ls", {}))
    assert found.messages[2].blocks == (ToolResult("c1", "a.txt b.txt"),)
    assert (found.name, found.wire, found.model) == ("s", "gemini", "qwen3")


def test_a_branch_that_was_left_is_not_the_conversation() -> None:
    rewind = {"uuid": "r", "parentUuid": "a", "sessionId": "s", "type": "system"}
    assert _texts(*TURN, rewind, entry("e", "r", "no, the folders")) == [
        "list the files",
        "no, the folders",
    ]


def test_a_snapshot_at_the_end_ends_no_branch() -> None:
    snapshot = {"uuid": "z", "parentUuid": None, "sessionId": "s", "type": "system"}
    assert len(_texts(*TURN, snapshot)) == len(_texts(*TURN))


def test_a_compression_begins_the_context_anew() -> None:
    kept = [{"role": "user", "parts": [{"text": "Summary."}]}]
    compressed = {"uuid": "x", "parentUuid": "d", "sessionId": "s", "type": "system"}
    payload = {"systemPayload": {"compressedHistory": kept}}
    data = log(*TURN, {**compressed, **payload}, entry("e", "x", "go on"))
    (found,) = QWEN_CODE.read(data).transcripts
    assert found.restarts == {4: 4}
    assert [message.blocks for message in found.context] == [(Text("Summary."),), (Text("go on"),)]


def test_a_log_of_claude_code_is_none() -> None:
    linked = {"uuid": "a", "parentUuid": None, "sessionId": "s", "type": "user"}
    other = log({**linked, "message": {"role": "user", "content": "hi"}})
    assert format_of(other) == "claude_code"


def test_a_log_without_a_message_is_refused() -> None:
    with pytest.raises(InputError, match="no line holds a message"):
        QWEN_CODE.read(log(entry("a", None)))
