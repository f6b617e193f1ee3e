"""Claude Managed Agents: the events of a session, listed or on lines, alone or in an envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from harness.checks.judge import judge
from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.recordings.recognition import format_named, format_of, read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript

MANAGED_AGENTS = format_named("managed_agents")
Event = dict[str, Any]

_TIME = "2026-08-11T06:18:23Z"


def event(kind: str, id_: str = "sevt_0", **fields: Any) -> Event:
    """An event as the API gives it."""
    return {"id": id_, "type": kind, "processed_at": _TIME, **fields}


def said(kind: str, text: str) -> Event:
    """An event with a text."""
    return event(kind, content=[{"type": "text", "text": text}])


def used(id_: str, kind: str = "agent.tool_use", **more: Any) -> Event:
    """The event of a call."""
    server = {"mcp_server_name": "files"} if "mcp" in kind else {}
    return event(kind, id_, name="ls", input={"path": id_}, **server, **more)


def result(id_: str, named: str = "tool_use_id", kind: str = "agent.tool_result") -> Event:
    """The event of a result."""
    return event(kind, **{named: id_}, content=[{"type": "text", "text": "a.txt b.txt"}])


RAN = event("session.status_running")
BEGINS = event("span.model_request_start")
SESSION = [
    RAN,
    said("user.message", "list the files"),
    BEGINS,
    event("agent.thinking"),
    said("agent.message", "I look."),
    used("sevt_1"),
    used("sevt_2"),
    result("sevt_1"),
    result("sevt_2"),
    BEGINS,
    said("agent.message", "two files"),
    event("session.status_idle", stop_reason={"type": "end_turn"}),
]


def lines(*events: Event) -> bytes:
    """Events on lines."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in events)


def _read(*events: Event) -> Transcript:
    (transcript,) = MANAGED_AGENTS.read(lines(*events)).transcripts
    return transcript


@pytest.mark.parametrize("shape", ["lines", "envelope", "list", "page"])
def test_a_session_is_read_in_each_shape(shape: str) -> None:
    held = {
        "lines": lines(*SESSION),
        "envelope": lines(*({"role": "agent", "raw": one} for one in SESSION)),
        "list": json.dumps(SESSION).encode(),
        "page": json.dumps({"data": SESSION, "next_page": None}, indent=1).encode(),
    }[shape]
    assert format_of(held) == "managed_agents"
    (transcript,) = read(held).transcripts
    assert [m.role for m in transcript.messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert transcript.messages[1].tool_uses == (
        ToolUse("sevt_1", "ls", {"path": "sevt_1"}),
        ToolUse("sevt_2", "ls", {"path": "sevt_2"}),
    )
    assert transcript.messages[2].tool_results == (ToolResult("sevt_1", (Text("a.txt b.txt"),)),)
    assert counts(transcript)["unanswered_calls"] == counts(transcript)["orphan_results"] == 0
    assert judge(to_history(transcript)).verdict == "pass"


def test_the_events_are_those_of_the_sdk() -> None:
    sessions = pytest.importorskip("anthropic.types.beta.sessions")
    event_type = getattr(sessions, "BetaManagedAgentsSessionEvent", None)
    if event_type is None:
        pytest.skip("this version of the SDK has no Managed Agents")
    for one in SESSION:
        told = TypeAdapter(event_type).validate_python(one)
        assert told.type == one["type"]


@pytest.mark.parametrize(
    ("call", "named", "answer"),
    [
        ("agent.mcp_tool_use", "mcp_tool_use_id", "agent.mcp_tool_result"),
        ("agent.custom_tool_use", "custom_tool_use_id", "user.custom_tool_result"),
        ("agent.tool_use", "tool_use_id", "user.tool_result"),
    ],
)
def test_each_kind_of_call_names_its_result(call: str, named: str, answer: str) -> None:
    found = _read(SESSION[1], used("sevt_7", call), result("sevt_7", named, answer), SESSION[-2])
    assert (counts(found)["tool_calls"], counts(found)["unanswered_calls"]) == (1, 0)


def test_the_call_of_a_sub_agent_is_that_of_its_own_thread() -> None:
    crossed = used("sevt_9", session_thread_id="sthr_1")
    assert counts(_read(*SESSION[:5], crossed, *SESSION[5:]))["tool_calls"] == 2


def test_what_was_asked_as_an_outcome_is_a_message() -> None:
    asked = event("user.define_outcome", description="Audit it.")
    assert _read(asked, SESSION[-2]).messages[0].text == "Audit it."


@pytest.mark.parametrize(
    ("status", "failures"), [("retrying", 0), ("exhausted", 1), ("terminal", 1)]
)
def test_an_error_that_is_not_tried_again_is_an_answer_that_failed(
    status: str, failures: int
) -> None:
    error = {"type": "billing_error", "message": "no credit", "retry_status": {"type": status}}
    found = _read(SESSION[1], event("session.error", error=error), said("user.message", "again?"))
    assert len(found.failures) == failures


def test_a_compaction_begins_the_context_anew() -> None:
    found = _read(*SESSION, event("agent.thread_context_compacted"), SESSION[1], SESSION[-2])
    assert found.restarts == {5: 5}


def test_an_unknown_event_of_a_tool_is_a_doubt() -> None:
    recording = MANAGED_AGENTS.read(lines(*SESSION, event("agent.computer_tool_result")))
    assert recording.doubts == (
        "the event 'agent.computer_tool_result' is not understood (1 of them)",
    )


def test_a_session_in_which_nothing_is_said_is_refused() -> None:
    with pytest.raises(InputError, match="no event says something"):
        MANAGED_AGENTS.read(lines(RAN, BEGINS))
