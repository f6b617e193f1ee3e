"""Sessions of Gemini CLI: an object or lines, and the results that stand beside their calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Thinking, ToolResult, ToolUse
from harness.recordings.recognition import format_named, format_of

GEMINI_CLI = format_named("gemini_cli")

HEADER = {"sessionId": "s", "projectHash": "p", "startTime": "2026-01-16T18:34:00.000Z"}


def call(id_: str = "c1", **more: Any) -> dict[str, Any]:
    """A call of the tool `ls` with its result."""
    answered = {"functionResponse": {"id": id_, "name": "ls", "response": {"output": "a.txt"}}}
    return {"id": id_, "name": "ls", "args": {}, "status": "success", "result": [answered], **more}


def session(*messages: dict[str, Any]) -> bytes:
    """A session as one object."""
    numbered = ({"id": f"m{n}", **message} for n, message in enumerate(messages))
    return json.dumps({**HEADER, "messages": [*numbered]}).encode()


def lines(*records: dict[str, Any]) -> bytes:
    """A session as lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in (HEADER, *records))


ASKS = {"type": "user", "content": "list the files"}
CALLS = {"type": "gemini", "model": "gemini-3-flash", "content": "", "toolCalls": [call()]}
SAYS = {"type": "gemini", "content": "One file."}
TURN = (ASKS, CALLS, SAYS)
RECORDS = tuple({"id": f"m{n}", **said} for n, said in enumerate(TURN))


def _texts(data: bytes) -> list[str]:
    (found,) = GEMINI_CLI.read(data).transcripts
    return [message.text for message in found.messages]


def test_calls_and_their_results_are_two_messages() -> None:
    thought = {"subject": "Look", "description": "It is there."}
    data = session(ASKS, {**CALLS, "thoughts": [thought]}, SAYS)
    assert format_of(data) == "gemini_cli"
    (found,) = GEMINI_CLI.read(data).transcripts
    assert [message.role for message in found.messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert found.messages[1].blocks == (Thinking("Look It is there."), ToolUse("c1", "ls", {}))
    assert found.messages[2].blocks == (ToolResult("c1", "a.txt"),)
    assert (found.name, found.wire, found.model) == ("s", "gemini", "gemini-3-flash")


def test_lines_say_what_the_object_says() -> None:
    data = lines(*RECORDS)
    assert format_of(data) == "gemini_cli"
    assert GEMINI_CLI.read(data) == GEMINI_CLI.read(session(*TURN))


def test_a_line_replaces_a_message_takes_back_one_or_sets_all() -> None:
    first, wrong, again = ({"id": n, "type": "user", "content": n} for n in ("a", "b", "c"))
    assert _texts(lines(first, wrong, {**wrong, "content": "better"})) == ["a", "better"]
    assert _texts(lines(first, wrong, {"$rewindTo": "b"}, again)) == ["a", "c"]
    assert _texts(lines(first, wrong, {"$rewindTo": "gone"}, again)) == ["c"]
    assert _texts(lines(first, {"$set": {"messages": [wrong, again]}})) == ["b", "c"]
    assert _texts(lines(first, {"$set": {"summary": "x"}}, again)) == ["a", "c"]


def test_what_is_for_the_screen_alone_is_no_message() -> None:
    shown = ({"type": kind, "content": "Request cancelled."} for kind in ("info", "warning"))
    assert _texts(session(ASKS, *shown, SAYS)) == ["list the files", "One file."]


def test_an_error_of_the_api_is_an_answer_that_failed() -> None:
    failed = {"type": "error", "content": "[API Error: got status 429 Too Many Requests]"}
    (found,) = GEMINI_CLI.read(session(ASKS, failed, {"type": "error", "content": "x"})).transcripts
    assert [(n, error.status) for n, error in found.failures.items()] == [(1, 429)]


@pytest.mark.parametrize(
    ("kept", "content", "failed"),
    [
        ({"result": None, "resultDisplay": "shown"}, "shown", False),
        ({"result": "no such file", "status": "error"}, "no such file", True),
    ],
)
def test_a_result_may_be_kept_as_text(kept: dict[str, Any], content: str, failed: bool) -> None:
    data = session(ASKS, {**CALLS, "toolCalls": [call(**kept)]})
    (found,) = GEMINI_CLI.read(data).transcripts
    assert found.messages[2].blocks == (ToolResult("c1", content, failed),)


def test_a_call_without_a_result_has_none() -> None:
    data = session(ASKS, {**CALLS, "toolCalls": [call(result=None)]}, SAYS)
    (found,) = GEMINI_CLI.read(data).transcripts
    assert [message.role for message in found.messages] == ["user", "assistant", "assistant"]


def test_parts_may_be_texts_or_of_another_form() -> None:
    parts = ["one ", {"text": "two "}, {"type": "text", "text": "three"}]
    assert _texts(session({"type": "user", "content": parts}, SAYS))[0] == "one \ntwo \nthree"


def test_a_torn_line_is_noted_and_an_empty_session_refused() -> None:
    recording = GEMINI_CLI.read(lines({"id": "a", **ASKS}) + b'{"id": "b", "ty')
    assert recording.notes == ("line 3: the last line is torn, skipped",)
    with pytest.raises(InputError, match="no message is in the session"):
        GEMINI_CLI.read(session())
