"""Calls of recordings: ids that a format has not got, and inputs that are not an object."""

from __future__ import annotations

import json

import pytest

from harness.checks.judge import judge
from harness.core.values.messages import Json, ToolResult, ToolUse, assistant, results, user
from harness.core.values.verdict import Verdict
from harness.recordings.readers.chat import chat_json
from harness.recordings.readers.pi import pi
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript


def judged(*uses: ToolUse, wire: str = "openai-chat", exchange: bool = False) -> Verdict:
    """A recording in which each call has its result."""
    said = [user("go")]
    for use in uses:
        said += [assistant(use), results(ToolResult(use.id, "ok"))]
    transcript = Transcript(
        name="t", messages=(*said, assistant("done")), wire=wire, exchange=exchange, answered=True
    )
    return judge(to_history(transcript))


def _codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def _calls(*ids: str) -> list[ToolUse]:
    return [ToolUse(id_, "f", {"n": n}) for n, id_ in enumerate(ids)]


def test_a_log_without_ids_is_not_asked_about_them() -> None:
    verdict = judged(*_calls("", "", "", ""))
    assert _codes(verdict) == []
    (aside,) = (n for n in verdict.not_applicable if n.check == "unique_tool_ids.empty")
    assert aside.reason == "the log keeps no ids of calls"


@pytest.mark.parametrize(("ids", "exchange"), [(("a", "", ""), False), (("", ""), True)])
def test_empty_ids_are_one_finding_of_a_recording(ids: tuple[str, ...], exchange: bool) -> None:
    (finding,) = judged(*_calls(*ids), exchange=exchange).findings
    assert finding.code == "unique_tool_ids.empty"
    assert finding.message.endswith("a tool call with an empty id, and 1 more in this recording")


@pytest.mark.parametrize("value", ['{"path": "a', '{"path": "a"}', ["a"], 3, True])
def test_an_input_that_is_no_object_is_found(value: Json) -> None:
    (finding,) = judged(ToolUse("a", "read", value)).findings
    assert finding.code == "args_complete.no_object"
    assert "the input of read is not an object: " in finding.message


@pytest.mark.parametrize("value", [None, "", {}, {"n": 1}, "*** Begin Patch"])
def test_no_input_and_free_text_are_inputs(value: Json) -> None:
    assert _codes(judged(ToolUse("a", "read", value))) == []


@pytest.mark.parametrize("stop", ["aborted", "error", "toolUse"])
def test_calls_of_an_answer_that_broke_off_are_owed_no_result(stop: str) -> None:
    call = {"type": "toolCall", "id": "a", "name": "read", "arguments": {"path": "x"}}
    said: list[Json] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [call], "stopReason": stop},
        {"role": "assistant", "content": "Sorry.", "stopReason": "stop"},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": "Done.", "stopReason": "stop"},
    ]
    rows: list[Json] = [{"type": "session", "id": "s"}]
    rows += [{"type": "message", "message": message} for message in said]
    (transcript,) = pi(json.dumps(row).encode() for row in rows).transcripts
    found = _codes(judge(to_history(transcript)))
    owed = ["tool_pairing.unanswered", "role_alternation.wire"]
    assert found == (owed if stop == "toolUse" else [])


def test_an_action_of_a_trajectory_is_a_text() -> None:
    assert _codes(judged(ToolUse("a", "bash", "{ ls; }"), wire="")) == []


def test_arguments_that_were_cut_are_found_in_a_chat() -> None:
    document = b"""[{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [{"id":
        "a", "type": "function", "function": {"name": "read", "arguments": "{\\"path\\": "}}]},
        {"role": "tool", "tool_call_id": "a", "content": "bad input"}]"""
    (transcript,) = chat_json(document).transcripts
    assert _codes(judge(to_history(transcript))) == ["args_complete.no_object"]
