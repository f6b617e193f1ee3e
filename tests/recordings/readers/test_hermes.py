"""Rows of a hermes database: one message each, of those that the model is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Opaque, Text, Thinking, ToolResult, ToolUse
from harness.recordings.readers import hermes
from harness.recordings.transcript_counts import counts

CALLS = json.dumps(
    [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"p": 1}'}}]
)


def _row(id_: int, role: str, content: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": id_, "session_id": "s1", "role": role, "content": content, **more}


TURN = [
    _row(1, "user", "go"),
    _row(2, "assistant", None, tool_calls=CALLS, finish_reason="tool_calls", reasoning="hm"),
    _row(3, "tool", "a.py", tool_call_id="c1"),
    _row(4, "assistant", "done", finish_reason="stop"),
]


def test_a_turn_is_read_as_the_messages_that_it_was() -> None:
    about = [{"id": "s1", "model": "m", "system_prompt": "be kind"}]
    (found,) = hermes.recording(TURN, about).transcripts
    assert [m.role for m in found.messages] == ["user", "assistant", "tool", "assistant"]
    assert found.messages[1].blocks == (Thinking("hm"), ToolUse("c1", "ls", {"p": 1}))
    assert found.messages[2].blocks == (ToolResult("c1", "a.py"),)
    assert (found.name, found.model, found.system) == ("s1", "m", "be kind")
    assert found.stops == {1: "tool_calls", 3: "stop"}
    assert counts(found)["alternation"] == counts(found)["unanswered_calls"] == 0


def test_content_of_parts_is_told_from_text_by_its_mark() -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}]
    marked = hermes.message(_row(1, "user", "\0json:" + json.dumps(parts)))
    assert marked.blocks == (Text("look"), Opaque("image_url", parts[1]))
    assert hermes.message(_row(1, "user", json.dumps(parts))).text == json.dumps(parts)
    assert hermes.message(_row(1, "user", "\0json:{")).text == "{"
    assert hermes.message(_row(1, "user", 7)).text == "7"


def test_rows_that_the_model_is_no_longer_shown_are_left_out() -> None:
    rows = [_row(0, "user", "old", active=0), *TURN, _row(5, "user", "on", active=1)]
    (found,) = hermes.recording(rows, []).transcripts
    assert [m.text for m in found.messages] == ["go", "", "", "done", "on"]
    assert hermes.is_active(_row(1, "user", active=None)), "an older version wrote no such column"


def test_sessions_are_apart_in_the_order_of_their_first_rows() -> None:
    child = _row(9, "user", "summary", session_id="s2")
    found = hermes.recording([*TURN, child, _row(10, "user", "late")], []).transcripts
    assert [(t.name, len(t.messages)) for t in found] == [("s1", 5), ("s2", 1)]


def test_calls_that_are_no_json_are_none() -> None:
    assert hermes.message(_row(1, "assistant", "x", tool_calls="[{")).tool_uses == ()


def test_a_database_without_rows_is_refused_and_so_is_one_that_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match="no active row"):
        hermes.recording([], [])
    monkeypatch.setattr("harness.recordings.tables.MAX_KEPT_BYTES", 20)
    with pytest.raises(InputError, match="messages, row 2: more than"):
        hermes.recording(TURN, [])
