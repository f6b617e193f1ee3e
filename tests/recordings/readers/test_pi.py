"""pi sessions: a tree of entries, each path of which is a transcript."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.checks.judge import judge
from harness.core.values.errors import InputError
from harness.core.values.messages import Opaque, Text, Thinking, ToolResult, ToolUse
from harness.recordings.recognition import format_named
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history

PI = format_named("pi")

HEAD = {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-01-01T00:00:00Z"}


def _entry(id_: str, parent: str | None, kind: str = "message", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": id_, "parentId": parent, **fields}


def _user(id_: str, parent: str | None, text: str = "go") -> dict[str, Any]:
    return _entry(id_, parent, message={"role": "user", "content": text})


def _says(id_: str, parent: str, *content: Any, stop: str = "stop") -> dict[str, Any]:
    said = {"role": "assistant", "content": list(content), "model": "m", "stopReason": stop}
    return _entry(id_, parent, message=said)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _call(id_: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id_, "name": "bash", "arguments": arguments}


def _result(id_: str, parent: str, call: str, failed: bool = False) -> dict[str, Any]:
    said = {"role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": failed}
    return _entry(id_, parent, message={**said, "content": [_text("out")]})


TURN = [
    _user("a", None),
    _entry("m", "a", "model_change", provider="p", modelId="m"),
    _says(
        "b", "m", {"type": "thinking", "thinking": "hm"}, _call("c1", x=1), _call("c2"),
        stop="toolUse",
    ),
    _result("c", "b", "c1"),
    _result("d", "c", "c2", failed=True),
    _says("e", "d", _text("done")),
]  # fmt: skip


def log(*lines: Any) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in (HEAD, *lines))


def test_a_turn_is_read_along_its_links() -> None:
    recording = PI.read(log(*TURN))
    (found,) = recording.transcripts
    assert (found.name, found.model, recording.notes) == ("s-1", "m", ())
    assert [m.role for m in found.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert found.messages[1].blocks == (
        Thinking("hm"), ToolUse("c1", "bash", {"x": 1}), ToolUse("c2", "bash", {}),
    )  # fmt: skip
    assert found.messages[3].blocks == (ToolResult("c2", (Text("out"),), is_error=True),)
    assert found.stops == {1: "toolUse", 4: "stop"}
    assert counts(found)["alternation"] == counts(found)["late_results"] == 0


def test_the_oldest_files_have_no_links() -> None:
    bare = [{k: v for k, v in line.items() if k not in ("id", "parentId")} for line in TURN]
    assert (
        PI.read(log(*bare)).transcripts[0].messages == PI.read(log(*TURN)).transcripts[0].messages
    )


def test_every_branch_is_a_transcript_and_the_last_one_the_first() -> None:
    other = [_user("f", "e", "no"), _says("g", "f", _text("1")), _user("h", "e", "yes")]
    label = _entry("l", "h", "label", targetId="a", label="x")
    first, second = PI.read(log(*TURN, *other, label)).transcripts
    assert (first.name, second.name) == ("s-1", "s-1, branch to g")
    assert [m.text for m in first.messages[-2:]] == ["done", "yes"]
    assert [m.text for m in second.messages[-3:]] == ["done", "no", "1"]


def test_a_compaction_keeps_what_it_says() -> None:
    compacted = _entry("k", "e", "compaction", summary="sum", firstKeptEntryId="m", tokensBefore=9)
    (found,) = PI.read(log(*TURN, compacted, _user("n", "k", "on"), _says("o", "n"))).transcripts
    assert found.restarts == {5: 1}
    shown = [m.text or m.role for m in found.context]
    assert shown == ["sum", "assistant", "tool", "tool", "done", "on", "assistant"]
    to_history(found)
    gone = {**compacted, "firstKeptEntryId": "nowhere"}
    assert PI.read(log(*TURN, gone)).transcripts[0].restarts == {5: 5}


def test_what_the_program_says_is_told_as_the_users() -> None:
    ran = {"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 0}
    lines = [
        _entry("a", None, message=ran),
        _entry("b", "a", message={**ran, "excludeFromContext": True}),
        _entry("c", "b", "custom_message", customType="x", content="by the way"),
        _entry("d", "c", "branch_summary", fromId="z", summary="tried"),
        _entry("e", "d", "custom", customType="x", data={}),
        _entry("f", "e", message={"role": "hookMessage", "content": [_text("hook")]}),
        _entry("g", "f", message={"role": "user", "content": [{"type": "image", "data": ""}]}),
    ]
    (found,) = PI.read(log(*lines)).transcripts
    assert {m.role for m in found.messages} == {"user"}
    assert [m.text for m in found.messages] == ["$ ls\na.py", "by the way", "tried", "hook", ""]
    assert isinstance(found.messages[-1].blocks[0], Opaque)


def test_circles_and_doubled_ids_are_noted() -> None:
    lines = [_user("a", "b"), _user("b", "a"), _user("a", None)]
    recording = PI.read(log(*lines))
    assert recording.notes == (
        "line 4: its id is that of line 2, skipped",
        "line 2: its parents lead back to it",
    )
    assert [len(t.messages) for t in recording.transcripts] == [2]


def test_a_lost_entry_splits_no_session() -> None:
    """The entry after it is linked to the one before it, and what rests on results is doubted."""
    for number in range(2, len(TURN)):
        lines = log(*TURN).splitlines(keepends=True)
        lines[number] = lines[number][:20] + b"\n"
        recording = PI.read(b"".join(lines))
        (found,) = recording.transcripts
        assert found.unread[0].startswith(f"line {number + 1}: not a JSON object, skipped")
        verdict = judge(to_history(found))
        assert (verdict.verdict, verdict.failing) == ("unknown", ())


def test_a_session_is_known_without_its_first_line() -> None:
    assert PI.recognises(log(*TURN).partition(b"\n")[2])


def test_a_file_that_is_all_circle_is_read() -> None:
    (found,) = PI.read(log(_user("a", "b"), _user("b", "a"))).transcripts
    assert len(found.messages) == 2


def test_branches_have_a_bound() -> None:
    many = [_user(f"u{n}", "e") for n in range(150)]
    recording = PI.read(log(*TURN, *many))
    assert len(recording.transcripts) == 100
    assert recording.notes == ("line 57: more than 100 branches, skipped",)


def test_a_file_without_messages_is_refused() -> None:
    for nothing in (b"", log(), log({"type": "message", "message": {"role": "x"}})):
        with pytest.raises(InputError, match="no line holds a message"):
            PI.read(nothing)
