"""Sessions of Copilot CLI: requested tools, their ends, sub-agents, errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.recordings.recognition import format_named, format_of

COPILOT_CLI = format_named("copilot_cli")


def log(*events: tuple[str, dict[str, Any]]) -> bytes:
    """Events as a file, after the one that begins a session."""
    began = ("session.start", {"sessionId": "s", "selectedModel": "gpt-5-mini"})
    numbered = (
        {"type": kind, "data": data, "id": f"e{n}", "timestamp": "2026-01-01T00:00:00Z"}
        for n, (kind, data) in enumerate((began, *events))
    )
    return b"".join(json.dumps(event).encode() + b"\n" for event in numbered)


def requested(id_: str = "c1", given: Any = "{}") -> dict[str, Any]:
    """The request of a tool in an answer."""
    return {"toolCallId": id_, "name": "ls", "arguments": given}


def ended(id_: str = "c1", text: str = "a.txt b.txt", **more: Any) -> tuple[str, dict[str, Any]]:
    """The event with which a tool ends."""
    said = {"toolCallId": id_, "success": True, "result": {"content": text}, **more}
    return "tool.execution_complete", said


ASKED = ("user.message", {"content": "list the files"})
CALLED = ("assistant.message", {"content": "", "toolRequests": [requested()]})
STARTED = ("tool.execution_start", {"toolCallId": "c1", "toolName": "ls", "arguments": {}})
SAID = ("assistant.message", {"content": "two files", "toolRequests": []})
TURN = (ASKED, ("assistant.turn_start", {}), CALLED, STARTED, ended(), SAID)


def test_an_answer_requests_its_tools_and_they_end_later() -> None:
    assert format_of(log(*TURN)) == "copilot_cli"
    (found,) = COPILOT_CLI.read(log(*TURN)).transcripts
    assert [message.blocks for message in found.messages] == [
        (Text("list the files"),),
        (ToolUse("c1", "ls", {}),),
        (ToolResult("c1", "a.txt b.txt"),),
        (Text("two files"),),
    ]
    assert (found.name, found.model) == ("s", "gpt-5-mini")


@pytest.mark.parametrize("events", [(STARTED, ended()), (STARTED, CALLED, ended())])
def test_a_tool_that_starts_before_its_answer_is_called_once(events: Any) -> None:
    (found,) = COPILOT_CLI.read(log(ASKED, *events, SAID)).transcripts
    assert [use.id for message in found.messages for use in message.tool_uses] == ["c1"]


def test_a_failed_tool_says_so() -> None:
    failed = ended(success=False, result=None, error={"message": "denied"})
    (found,) = COPILOT_CLI.read(log(ASKED, CALLED, failed)).transcripts
    assert found.messages[2].blocks == (ToolResult("c1", "denied", True),)


def test_a_sub_agent_is_a_transcript_of_its_own() -> None:
    own = [(kind, {**data, "parentToolCallId": "t9"}) for kind, data in TURN]
    first, second = COPILOT_CLI.read(log(*TURN, *own)).transcripts
    assert first.messages == second.messages
    assert second.name == "s, agent of t9"


def test_a_tool_that_never_began_is_a_doubt_and_no_result() -> None:
    recording = COPILOT_CLI.read(log(ASKED, ended("c7"), SAID))
    assert [len(found.messages) for found in recording.transcripts] == [2]
    assert recording.doubts == ("a tool that ends and never began is not understood (1 of them)",)


def test_an_error_of_the_api_is_an_answer_that_failed() -> None:
    error = ("session.error", {"errorType": "query", "message": "Bad", "statusCode": 400})
    (found,) = COPILOT_CLI.read(log(ASKED, error)).transcripts
    assert [(n, e.status, e.message) for n, e in found.failures.items()] == [(1, 400, "Bad")]


def test_a_compaction_begins_the_context_anew() -> None:
    compacted = ("session.compaction_complete", {"success": True, "summaryContent": "Summary."})
    (found,) = COPILOT_CLI.read(log(*TURN, compacted, SAID)).transcripts
    assert [message.text for message in found.context] == ["Summary.", "two files"]


def test_events_may_lack_their_ids() -> None:
    rows = (
        json.loads(line)
        for line in log(ASKED, ("assistant.message", {"content": "two"})).splitlines()
    )
    bare = b"".join(
        json.dumps({k: v for k, v in row.items() if k != "id"}).encode() + b"\n" for row in rows
    )
    assert format_of(bare) == "copilot_cli"


def test_a_log_without_a_message_is_refused() -> None:
    with pytest.raises(InputError, match="no line holds a message"):
        COPILOT_CLI.read(log())
