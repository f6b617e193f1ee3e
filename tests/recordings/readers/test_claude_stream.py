"""What `claude -p` prints as JSON Lines: one transcript for the agent, one for each sub-agent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.plans import ApiError
from harness.recordings.recognition import format_of, read
from harness.recordings.transcript_counts import counts

ID = "1d1e46f9-35c7-4834-b529-846d5bb82288"
INIT = {
    "type": "system", "subtype": "init", "cwd": "/w", "session_id": ID, "tools": ["Bash", "Task"],
    "model": "claude-opus-4-5", "permissionMode": "default", "uuid": "u0",
}  # fmt: skip


def event(kind: str, *content: Any, parent: str | None = None, **message: Any) -> dict[str, Any]:
    """A message of a stream as its line has it."""
    said = {"role": kind, "content": list(content), **message}
    return {"type": kind, "message": said, "parent_tool_use_id": parent, "session_id": ID}


def use(id_: str, name: str = "Bash") -> dict[str, Any]:
    """A call."""
    return {"type": "tool_use", "id": id_, "name": name, "input": {"n": id_}}


def result(id_: str, *, failed: bool = False) -> dict[str, Any]:
    """Its result."""
    return {"type": "tool_result", "tool_use_id": id_, "content": "ok", "is_error": failed}


DONE = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2, "result": "ok",
        "session_id": ID, "permission_denials": []}  # fmt: skip

RUN = (
    INIT,
    event("assistant", {"type": "text", "text": "look"}, id="m1", model="claude-opus-4-5"),
    event("assistant", use("c1"), id="m1"),
    event("user", result("c1")),
    event("assistant", use("t1", "Task"), id="m2", stop_reason="tool_use"),
    event("user", {"type": "text", "text": "count them"}, parent="t1"),
    event("assistant", use("s1"), parent="t1", id="m3"),
    event("user", result("s1", failed=True), parent="t1"),
    event("user", result("t1")),
    event("assistant", {"type": "text", "text": "done"}, id="m4"),
    DONE,
)


def stream(*events: Any) -> bytes:
    """The lines of events."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in events)


def test_a_run_and_its_sub_agent_are_two_transcripts() -> None:
    recording = read(stream(*RUN))
    assert recording.format == "claude_stream"
    assert [t.name for t in recording.transcripts] == [ID, f"{ID}, agent of t1"]
    main, agent = recording.transcripts
    assert [m.role for m in main.messages] == [
        "assistant",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert (main.messages[0].text, main.messages[0].tool_uses[0].id) == ("look", "c1")
    assert (main.model, main.stops, main.answered) == ("claude-opus-4-5", {2: "tool_use"}, True)
    assert [m.role for m in agent.messages] == ["user", "assistant", "user"]
    for found in map(counts, recording.transcripts):
        assert found["orphan_results"] == found["unanswered_calls"] == found["late_results"] == 0
    assert [r.is_error for m in agent.messages for r in m.tool_results] == [True]
    assert recording.notes == ()


def test_what_follows_a_compaction_begins_anew() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "session_id": ID}
    summary = event("user", {"type": "text", "text": "so far: two files"})
    (found, _) = read(stream(*RUN[:-1], boundary, summary)).transcripts
    assert found.restarts == {5: 5}
    assert [message.text for message in found.context] == ["so far: two files"]


def test_pieces_and_other_events_are_passed_over_and_a_failed_end_is_noted() -> None:
    piece = {"type": "stream_event", "session_id": ID, "event": {"type": "message_start"}}
    ended = {**DONE, "subtype": "error_max_turns", "is_error": True}
    data = stream(INIT, piece, *RUN[1:-1], {"type": "rate_limit_event", "session_id": ID}, ended)
    recording = read(data + b'{"type": "assis')
    assert recording.transcripts == read(stream(*RUN)).transcripts
    assert recording.notes == (
        "line 13: the run ended as error_max_turns",
        "line 14: the last line is torn, skipped",
    )


def test_what_the_program_says_in_the_place_of_an_answer_is_a_failure() -> None:
    text = "API Error: 529 overloaded"
    said = event("assistant", {"type": "text", "text": text}, model="<synthetic>")
    (found,) = read(stream(INIT, event("user"), {**said, "error": "server_error"})).transcripts
    assert found.failures == {1: ApiError(529, "server_error", text)}


def test_a_message_may_leave_out_its_role() -> None:
    said = event("assistant", use("c1"))
    del said["message"]["role"]
    (found,) = read(stream(INIT, said)).transcripts
    assert (found.messages[0].role, counts(found)["pending_calls"]) == ("assistant", 1)


def test_a_malformed_message_costs_itself_alone() -> None:
    recording = read(stream(*RUN, {"type": "user", "message": {"content": 3}, "session_id": ID}))
    assert len(recording.transcripts) == 2
    assert recording.notes == ("line 12: message.content should be a valid list, skipped",)


@pytest.mark.parametrize(
    "events", [(INIT,), (INIT, DONE), (INIT, event("assistant") | {"message": 1})]
)
def test_a_stream_without_a_message_is_refused(events: tuple[Any, ...]) -> None:
    assert format_of(stream(*events)) == "claude_stream"
    with pytest.raises(InputError, match="line 1: no line holds a message of user or assistant"):
        read(stream(*events))


def test_a_session_log_is_no_stream() -> None:
    logged = [{**e, "sessionId": ID, "uuid": f"u{n}"} for n, e in enumerate(RUN)]
    for entry in logged:
        entry.pop("session_id", None)
    assert format_of(stream(*logged)) == "claude_code"
