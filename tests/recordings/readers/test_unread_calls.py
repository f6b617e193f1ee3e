"""Chats whose calls cannot be read: a refusal with its reason, never a call without a name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.errors import InputError
from harness.core.values.messages import ToolUse
from harness.recordings.readers import hermes
from harness.recordings.recognition import read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcripts import readable
from tests.recordings.readers.test_chat_shapes import PATH, SHAPES, row

_CALLS: dict[str, dict[str, Any]] = {
    "no name": {"id": "c1", "arguments": {}},
    "no name in a function": {"id": "c1", "function": {"arguments": "{}"}},
    "a name that is not text": {"id": "c1", "name": 3, "args": {}},
    "an empty name": {"id": "c1", "type": "function", "function": {"name": "", "arguments": ""}},
    "a blank name": {"id": "c1", "name": " ", "args": {}},
    "arguments under a name of their own": {"id": "c1", "name": "read", "payload": PATH},
    "arguments as another text": {"id": "c1", "function": {"name": "read", "body": "{}"}},
}


@pytest.mark.parametrize("call", list(_CALLS.values()), ids=list(_CALLS))
def test_a_call_without_its_name_or_arguments_is_a_refusal_with_its_reason(call: Any) -> None:
    said = row("assistant", tool_calls=[call])
    bad = {"messages": [row("user", content="x"), said]}
    recording = read(json.dumps([bad, {"messages": SHAPES["AgentDojo"]}]).encode())
    assert [found.name for found in recording.transcripts] == ["item 2"]
    (refusal,) = recording.refusals
    assert refusal.place == "item 1, message 1"
    assert "no name" in refusal.reason or "not found in arguments, args" in refusal.reason


def test_a_call_of_a_screen_may_lack_its_id_and_never_its_name() -> None:
    part = {"type": "dynamic-tool", "toolName": "ls", "state": "output-available", "output": "a"}
    rows = [row("user", content="x"), {"role": "assistant", "parts": [part]}]
    (found,) = read(json.dumps(rows).encode()).transcripts
    assert (counts(found)["tool_calls"], counts(found)["orphan_results"]) == (1, 0)
    del part["toolName"]
    assert len(read(json.dumps(rows).encode()).refusals) == 1


@pytest.mark.parametrize("kind", ["function_call", "toolUse", "tool", "tool-request", "toolCall"])
def test_a_part_that_is_a_call_by_its_type_is_read_or_refused(kind: str) -> None:
    part = {"type": kind, "id": "c1", "name": "ls", "input": {}}
    rows = [row("user", content="x"), row("assistant", content=[part])]
    (found,) = read(json.dumps(rows).encode()).transcripts
    assert found.messages[1].tool_uses == (ToolUse("c1", "ls", {}),)
    part["tool"] = part.pop("name")
    assert len(read(json.dumps(rows).encode()).refusals) == 1


def test_a_call_that_may_have_no_arguments_has_none() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls"}}
    rows = [row("user", content="x"), row("assistant", tool_calls=[call])]
    (found,) = read(json.dumps(rows).encode()).transcripts
    assert found.messages[1].tool_uses == (ToolUse("c1", "ls"),)
    assert counts(found)["empty_input_calls"] == 1


def _values(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(part, (dict, list)):
            yield from _values(part)


@given(st.sampled_from(list(SHAPES)), st.data())
def test_any_value_in_a_message_leaves_calls_with_names(name: str, data: st.DataObject) -> None:
    rows = json.loads(json.dumps(SHAPES[name]))
    held, key = data.draw(st.sampled_from(list(_values(rows))))
    held[key] = data.draw(st.sampled_from([None, 0, "", " ", "x", [], {}, [[]], {"a": 1}, True]))
    try:
        recording = read(json.dumps({"messages": rows}).encode())
    except InputError:
        return
    names = [use.name for t in recording.transcripts for m in t.messages for use in m.tool_uses]
    assert all(name.strip() for name in names)
    assert recording.transcripts or recording.refusals


def test_an_item_of_the_responses_api_without_a_name_is_a_refusal() -> None:
    item = {"type": "function_call", "call_id": "c1", "arguments": "{}"}
    rows = [row("user", content="x"), item]
    assert read(json.dumps(rows).encode()).refused == {"a call has no name": 1}
    named = {**item, "name": "ls"}
    (found,) = read(json.dumps([rows[0], named]).encode()).transcripts
    assert [use.name for message in found.messages for use in message.tool_uses] == ["ls"]


def test_a_row_of_a_database_without_a_name_is_a_refusal() -> None:
    calls = json.dumps([{"id": "c1", "type": "function", "function": {"arguments": "{}"}}])
    said = {"id": 1, "session_id": "s", "role": "assistant", "content": "", "tool_calls": calls}
    kept = {"id": 2, "session_id": "t", "role": "user", "content": "x"}
    found = readable(hermes.recording([said, kept], []))
    assert [transcript.name for transcript in found.transcripts] == ["t"]
    assert [refusal.place for refusal in found.refusals] == ["s, message 0"]
