"""Streams of `gemini --output-format stream-json`: pieces of answers, calls, runs that failed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, ToolResult, ToolUse
from harness.recordings.recognition import format_named, format_of

GEMINI_STREAM = format_named("gemini_stream")


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """An event of a stream."""
    return {"type": kind, "timestamp": "2026-01-30T06:18:17.750Z", **fields}


def said(role: str, text: str) -> dict[str, Any]:
    """A text, or a piece of one."""
    return event("message", role=role, content=text, delta=True)


def use(id_: str, given: Any = None) -> dict[str, Any]:
    """A call."""
    return event("tool_use", tool_name="ls", tool_id=id_, parameters=given or {"path": "."})


def result(id_: str, text: str = "a.txt b.txt", **more: Any) -> dict[str, Any]:
    """Its result."""
    return event("tool_result", tool_id=id_, output=text, **{"status": "success", **more})


INIT = event("init", session_id="s", model="gemini-3-pro")
DONE = event("result", status="success", stats={"tool_calls": 1})
RUN = (
    INIT, said("user", "list the files"), said("assistant", "I "), said("assistant", "look."),
    use("c1"), result("c1"), said("assistant", "two files"), DONE,
)  # fmt: skip


def stream(*events: Any) -> bytes:
    """Events as lines."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in events)


def of_talk(steps: Iterable[Any], given: Callable[[str], Any]) -> bytes:
    """A talk of `large_logs` as a stream; `given` is the input of a call by its id."""
    events = [INIT]
    for step in steps:
        if step.kind == "results":
            events += [result(id_, f"seen {id_}") for id_ in step.ids]
            continue
        side = "user" if step.kind == "user" else "assistant"
        events += [said(side, step.text)] if step.text else []
        events += [use(id_, given(id_)) for id_ in step.ids]
    return stream(*events, DONE)


def _blocks(*events: Any) -> list[Any]:
    (found,) = GEMINI_STREAM.read(stream(INIT, *events)).transcripts
    return [message.blocks for message in found.messages]


def test_pieces_of_an_answer_are_one_text_before_its_calls() -> None:
    assert format_of(stream(*RUN)) == "gemini_stream"
    (found,) = GEMINI_STREAM.read(stream(*RUN)).transcripts
    assert [(message.role, message.blocks) for message in found.messages] == [
        ("user", (Text("list the files"),)),
        ("assistant", (Text("I look."), ToolUse("c1", "ls", {"path": "."}))),
        ("user", (ToolResult("c1", "a.txt b.txt"),)),
        ("assistant", (Text("two files"),)),
    ]
    assert (found.name, found.wire, found.model) == ("s", "gemini", "gemini-3-pro")


def test_calls_of_one_answer_stand_before_their_results() -> None:
    blocks = _blocks(said("user", "go"), use("c1"), use("c2"), result("c1"), result("c2"))
    assert [len(each) for each in blocks] == [1, 2, 2]


def test_a_failed_tool_says_so() -> None:
    told = {"status": "error", "error": {"type": "invalid_tool_params", "message": "no such skill"}}
    for text in ("no such skill", ""):
        blocks = _blocks(said("user", "go"), use("c1"), result("c1", text, **told))
        assert blocks[2] == (ToolResult("c1", "no such skill", True),)


def test_a_run_that_failed_ends_with_an_answer_that_failed() -> None:
    error = {"type": "Error", "message": '[API Error: {"code": 400}]'}
    failed = event("result", status="error", error=error)
    (found,) = GEMINI_STREAM.read(stream(INIT, said("user", "go"), failed)).transcripts
    assert [(n, e.status, e.type) for n, e in found.failures.items()] == [(1, 400, "Error")]


def test_each_run_in_a_file_is_a_transcript() -> None:
    other = event("init", session_id="t", model="m")
    named = [one.name for one in GEMINI_STREAM.read(stream(*RUN, other, *RUN[1:])).transcripts]
    assert named == ["s", "t"]


def test_lines_of_a_runner_before_the_stream_are_not_of_the_run() -> None:
    lines = {"type": "message", "role": "user", "content": "made by the runner"}
    assert format_of(stream(lines, *RUN)) == "gemini_stream"
    (found,) = GEMINI_STREAM.read(stream(lines, *RUN)).transcripts
    assert found.messages[0].text == "list the files"


@pytest.mark.parametrize("kind", ["tool_call_output", "tool_response"])
def test_an_event_that_may_be_of_a_tool_is_a_doubt(kind: str) -> None:
    recording = GEMINI_STREAM.read(stream(*RUN, event(kind)))
    assert recording.doubts == (f"the event {kind!r} is not understood (1 of them)",)


@pytest.mark.parametrize("lost", ["tool_id", "parameters"])
def test_a_call_of_which_half_is_found_is_refused(lost: str) -> None:
    call = {key: value for key, value in use("c1").items() if key != lost}
    (refusal,) = GEMINI_STREAM.read(stream(INIT, said("user", "go"), call)).refusals
    assert refusal.reason == "the id or the parameters of a call are not found"


def test_a_stream_without_a_message_is_refused() -> None:
    with pytest.raises(InputError, match="no line holds a message"):
        GEMINI_STREAM.read(stream(INIT, DONE))
