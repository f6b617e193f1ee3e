"""Sessions of `opencode export`: steps, calls that were cut short, compactions, errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from harness.core.values.errors import InputError
from harness.core.values.messages import Text, Thinking, ToolResult, ToolUse
from harness.recordings.recognition import format_named, format_of, read

OPENCODE = format_named("opencode")

STEP: dict[str, Any] = {"type": "step-start"}
LOOKED: dict[str, Any] = {"status": "completed", "input": {"path": "."}, "output": "a.txt b.txt"}


def text(said: str, **more: Any) -> dict[str, Any]:
    """A part of a message that is text."""
    return {"type": "text", "text": said, **more}


def tool(id_: str = "c1", state: Any = None, **more: Any) -> dict[str, Any]:
    """A part of a message that is a call, with its result in the state."""
    return {"type": "tool", "callID": id_, "tool": "ls", "state": state or LOOKED, **more}


def said(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    """A message of these parts."""
    return {"info": {"role": role, "modelID": "m", **more}, "parts": list(parts)}


def session(*messages: Any) -> bytes:
    """Messages as a file."""
    info = {"id": "ses_1", "slug": "s", "version": "1.17.7", "projectID": "p"}
    return json.dumps({"info": info, "messages": messages}).encode()


ASKED = said("user", text("list the files"))
ANSWER = said("assistant", STEP, text("two files"), {"type": "step-finish"})
TURN = (ASKED, said("assistant", STEP, {"type": "reasoning", "text": "Look."}, tool()), ANSWER)


def of_talk(steps: Iterable[Any], given: Callable[[str], Any]) -> bytes:
    """A talk of `large_logs` as a file; `given` is the input of a call by its id."""
    messages: list[dict[str, Any]] = []
    for step in steps:
        if step.kind == "results":
            for part in messages[-1]["parts"][: len(step.ids)]:
                part["state"] |= {"status": "completed", "output": f"seen {part['callID']}"}
            continue
        calls = [tool(id_, {"status": "running", "input": given(id_)}) for id_ in step.ids]
        role = "user" if step.kind == "user" else "assistant"
        messages.append(said(role, *([text(step.text)] if step.text else []), *calls))
    return session(*messages)


def _blocks(*messages: Any) -> list[Any]:
    (found,) = OPENCODE.read(session(*messages)).transcripts
    return [message.blocks for message in found.messages]


@pytest.mark.parametrize("before", [b"", b"Exporting session: ses_1\n"])
def test_a_part_of_a_tool_is_a_call_and_its_result(before: bytes) -> None:
    whole = before + session(*TURN)
    assert format_of(whole) == "opencode"
    (found,) = read(whole).transcripts
    assert [message.role for message in found.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert found.messages[1].blocks == (Thinking("Look."), ToolUse("c1", "ls", {"path": "."}))
    assert found.messages[2].blocks == (ToolResult("c1", "a.txt b.txt"),)
    assert (found.name, found.model, found.answered) == ("ses_1", "m", True)


def test_each_step_of_an_answer_is_a_request_of_its_own() -> None:
    steps = said("assistant", STEP, tool("c1"), tool("c2"), STEP, tool("c3"), STEP, text("done"))
    calls = [[use.id for use in _uses(blocks)] for blocks in _blocks(ASKED, steps)]
    assert calls == [[], ["c1", "c2"], [], [], ["c3"], [], []]


def _uses(blocks: Any) -> list[ToolUse]:
    return [block for block in blocks if isinstance(block, ToolUse)]


def test_a_failed_tool_says_so() -> None:
    failed = {"status": "error", "input": {}, "error": "no such folder"}
    assert _blocks(ASKED, said("assistant", tool(state=failed)))[2] == (
        ToolResult("c1", "no such folder", True),
    )


@pytest.mark.parametrize("status", ["pending", "running"])
def test_a_call_that_was_cut_short_has_the_result_that_the_model_is_shown(status: str) -> None:
    cut = said("assistant", tool(state={"status": status, "input": {}}))
    begun = [] if status == "pending" else [(ToolUse("c1", "ls", {}),)]
    assert _blocks(ASKED, cut) == [(Text("list the files"),), *begun], "its input may come yet"
    result = _blocks(ASKED, cut, said("user", text("go on")))[2]
    assert result == (ToolResult("c1", "[Tool execution was interrupted]", True),)


SUMMARY = said("assistant", STEP, text("Summary."), summary=True)


def _context(*messages: Any) -> list[str]:
    (found,) = OPENCODE.read(session(*messages)).transcripts
    return [message.text for message in found.context]


def test_the_summary_of_a_compaction_begins_the_context_anew() -> None:
    compacted = said("user", {"type": "compaction", "auto": True})
    assert _context(*TURN, compacted, SUMMARY, ASKED, ANSWER) == [
        "Summary.", "list the files", "two files",
    ]  # fmt: skip
    failed = said("assistant", summary=True)
    assert _context(*TURN, compacted, failed, ASKED, ANSWER)[0] == "list the files"


def test_a_compaction_keeps_the_tail_that_it_names() -> None:
    asked = said("user", text("and now?"), id="msg_7")
    compacted = said("user", {"type": "compaction", "tail_start_id": "msg_7"})
    assert _context(*TURN, asked, compacted, SUMMARY, ANSWER) == [
        "Summary.", "and now?", "two files",
    ]  # fmt: skip


def test_an_error_of_the_api_is_an_answer_that_failed() -> None:
    told = {"name": "APIError", "data": {"message": "Overloaded", "statusCode": 529}}
    (found,) = OPENCODE.read(session(ASKED, said("assistant", error=told))).transcripts
    errors = [(n, e.status, e.type, e.message) for n, e in found.failures.items()]
    assert errors == [(1, 529, "APIError", "Overloaded")]
    (cut,) = OPENCODE.read(
        session(ASKED, said("assistant", STEP, text("It"), error=told))
    ).transcripts
    assert (list(cut.failures), cut.messages[1].text) == ([1], "It")


def test_an_answer_that_the_user_stopped_is_no_error() -> None:
    stopped = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    (found,) = OPENCODE.read(session(ASKED, said("assistant", error=stopped))).transcripts
    assert (len(found.messages), found.failures) == (1, {})


def test_what_the_model_is_not_shown_is_left_out() -> None:
    parts = (text("seen"), text("for the user", ignored=True), {"type": "patch", "hash": "1"})
    assert _blocks(said("user", *parts)) == [(Text("seen"),)]


@pytest.mark.parametrize("part", ["tool-call", "tool_result"])
def test_a_part_that_may_be_of_a_tool_is_a_doubt(part: str) -> None:
    (found,) = OPENCODE.read(session(*TURN, said("assistant", {"type": part}))).transcripts
    assert found.unread == (f"the block {part!r} is not understood (1 of them)",)


@pytest.mark.parametrize("lost", ["callID", "state", "input", "status"])
def test_a_call_of_which_half_is_found_is_refused(lost: str) -> None:
    state = {key: value for key, value in LOOKED.items() if key != lost}
    part = {key: value for key, value in tool(state=state).items() if key != lost}
    (refusal,) = OPENCODE.read(session(ASKED, said("assistant", part))).refusals
    assert refusal.reason == "the id, the input or the state of a call is not found"


def test_a_session_without_a_message_is_refused() -> None:
    with pytest.raises(InputError, match="no message holds a text or a call"):
        OPENCODE.read(session(said("user")))
