"""Codex rollouts: the items of the conversation, with any other lines between them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Opaque, Text, ToolResult, ToolUse
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts

CODEX = format_named("codex")


def _line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-05-01T10:00:00.000Z", "type": kind, "payload": payload}


def _item(kind: str, **fields: Any) -> dict[str, Any]:
    return _line("response_item", type=kind, **fields)


def _said(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return _item("message", role=role, content=[{"type": part, "text": text}])


def _call(id_: str, arguments: str = '{"cmd":"ls"}') -> dict[str, Any]:
    return _item("function_call", name="shell", arguments=arguments, call_id=id_)


def _result(id_: str, output: Any = "a.py") -> dict[str, Any]:
    return _item("function_call_output", call_id=id_, output=output)


META = _line(
    "session_meta", id="t-1", cwd="/w", cli_version="0.128.0", base_instructions={"text": "be kind"}
)
TURN = [
    META,
    _said("developer", "rules"),
    _said("user", "go"),
    _line("turn_context", turn_id="1", model="gpt-5", cwd="/w"),
    _line("event_msg", type="user_message", message="go"),
    _item("reasoning", summary=[], encrypted_content="x"),
    _call("c1"),
    _call("c2"),
    _result("c1"),
    _result("c2", [{"type": "input_text", "text": "b.py"}]),
    _line("event_msg", type="token_count", info={}),
    _said("assistant", "done"),
]


def log(*lines: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_a_turn_is_read_as_the_messages_that_it_was() -> None:
    (found,) = CODEX.read(log(*TURN)).transcripts
    assert (found.name, found.model, found.system) == ("t-1", "gpt-5", "be kind")
    assert [m.role for m in found.messages] == [
        "developer", "user", "assistant", "tool", "tool", "assistant",
    ]  # fmt: skip
    assert found.messages[2].blocks[1:] == (
        ToolUse("c1", "shell", {"cmd": "ls"}),
        ToolUse("c2", "shell", {"cmd": "ls"}),
    )
    assert isinstance(found.messages[2].blocks[0], Opaque)
    assert found.messages[4].blocks == (ToolResult("c2", (Text("b.py"),)),)
    counted = counts(found)
    assert (counted["messages"], counted["tool_calls"], counted["tool_results"]) == (5, 2, 2)
    assert counted["alternation"] == counted["orphan_results"] == counted["late_results"] == 0


def test_calls_of_every_kind_are_calls() -> None:
    lines = [
        _said("user", "go"),
        _item("local_shell_call", call_id="a", status="completed", action={"command": ["ls"]}),
        _item("function_call_output", call_id="a", output="x"),
        _item("custom_tool_call", call_id="b", name="apply_patch", input="*** Begin"),
        _item("custom_tool_call_output", call_id="b", output="ok"),
        _item("web_search_call", status="completed", action={"type": "search", "query": "q"}),
        _item("ghost_snapshot", ghost_commit={}),
    ]
    counted = counts(CODEX.read(log(META, *lines)).transcripts[0])
    assert (counted["tool_calls"], counted["tool_results"], counted["server_tool_calls"]) == (
        2,
        2,
        1,
    )
    assert counted["orphan_results"] == counted["unanswered_calls"] == 0


def test_a_compaction_begins_the_context_anew() -> None:
    (found,) = CODEX.read(
        log(
            *TURN,
            _line("compacted", message="what was", replacement_history=[]),
            _said("user", "on"),
        )
    ).transcripts
    assert found.restarts == {6: 6}
    assert [m.text for m in found.context] == ["what was", "on"]
    assert len(found.messages) == 8


def test_the_oldest_files_hold_bare_items() -> None:
    head = {"id": "old", "timestamp": "2025-05-07T17:24:21.597Z", "instructions": "be kind"}
    bare = [line["payload"] for line in TURN if line["type"] == "response_item"]
    data = log(head, {"record_type": "state"}, *bare)
    assert CODEX.recognises(data)
    (found,) = CODEX.read(data).transcripts
    assert (found.name, found.system) == ("old", "be kind")
    assert found.messages == CODEX.read(log(*TURN)).transcripts[0].messages


def test_turns_that_were_taken_back_are_noted() -> None:
    back = _line("event_msg", type="thread_rolled_back", num_turns=1)
    (note,) = CODEX.read(log(*TURN, back)).notes
    assert note == "line 13: turns were taken back here; they are read all the same"


def test_a_torn_end_is_noted_and_a_file_without_items_refused() -> None:
    data = log(*TURN)
    assert CODEX.read(data + b'{"type": "resp').notes == (
        "line 13: the last line is torn, skipped",
    )
    for nothing in (b"", log(META), b'{"type":\n'):
        with pytest.raises(InputError, match="no line holds an item"):
            CODEX.read(nothing)


def test_odd_payloads_are_passed_over() -> None:
    odd = [{"type": "response_item"}, {"type": "response_item", "payload": 3}, {"payload": {}}]
    odd += [{"type": "compacted", "payload": []}, {"type": "session_meta"}, {"type": 1}]
    (found,) = CODEX.read(log(*odd, *TURN)).transcripts
    assert found.name == "t-1"
