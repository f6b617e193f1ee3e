"""Results that a crash took from a log, and that its program sent all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.checks.judge import judge
from harness.core.values.verdict import Verdict
from harness.recordings.recognition import read
from harness.recordings.transcript_counts import counts
from harness.recordings.transcript_history import to_history

Row = dict[str, Any]

WORDS = {
    "codex": "aborted",
    "claude_code": "[Tool result missing due to internal error]",
    "pi": "No result provided",
}


def _codex(row: Row) -> Row:
    match row:
        case {"call": id_}:
            item = {"type": "function_call", "call_id": id_}
            item |= {"name": "ls", "arguments": json.dumps({"path": id_})}
        case {"result": id_}:
            item = {"type": "function_call_output", "call_id": id_, "output": "a.py"}
        case _:
            said = [{"type": "input_text", "text": row["text"]}]
            item = {"type": "message", "role": row["role"], "content": said}
    return {"type": "response_item", "payload": item}


def _claude_code(row: Row) -> Row:
    role, said = row.get("role", "user"), [{"type": "text", "text": row.get("text")}]
    if "call" in row:
        role, said = (
            "assistant",
            [{"type": "tool_use", "id": row["call"], "name": "ls", "input": {}}],
        )
    if "result" in row:
        said = [{"type": "tool_result", "tool_use_id": row["result"], "content": "a.py"}]
    refused = {"isApiErrorMessage": True, "apiErrorStatus": 400} if row.get("refused") else {}
    return {"type": role, "sessionId": "s", "message": {"role": role, "content": said}, **refused}


def _pi(row: Row) -> Row:
    said = [{"type": "text", "text": row.get("text")}]
    message: Row = {"role": row.get("role"), "content": said}
    if "call" in row:
        call = {"type": "toolCall", "id": row["call"], "name": "ls", "arguments": {}}
        message = {"role": "assistant", "content": [call], "stopReason": "toolUse"}
    if "result" in row:
        message = {"role": "toolResult", "toolCallId": row["result"], "content": said}
    if row.get("refused"):
        message |= {"stopReason": "error", "errorMessage": "400 no result for c1"}
    return {"type": "message", "message": message}


WRITERS: dict[str, Callable[[Row], Row]] = {"codex": _codex, "claude_code": _claude_code, "pi": _pi}

ASKED = [{"role": "user", "text": "go"}, {"call": "c0"}, {"result": "c0"}, {"call": "c1"}]
AGAIN, ANSWER = {"role": "user", "text": "go on"}, {"role": "assistant", "text": "done"}


def _log(program: str, *rows: Row) -> bytes:
    head = {"type": "session", "id": "s", "version": 3} if program == "pi" else None
    values = [*filter(None, [head]), *map(WRITERS[program], rows)]
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _verdict(data: bytes) -> Verdict:
    (transcript,) = read(data).transcripts
    return judge(to_history(transcript))


@pytest.mark.parametrize("program", WRITERS)
def test_a_resumed_session_sends_a_result_that_its_log_lacks(program: str) -> None:
    (transcript,) = read(_log(program, *ASKED, AGAIN, ANSWER)).transcripts
    assert transcript.lost_result == WORDS[program]
    assert counts(transcript)["unanswered_calls"] == 1, "the counts show the log as it is"
    assert "tool_pairing" not in {f.check for f in judge(to_history(transcript)).findings}


@pytest.mark.parametrize("program", WRITERS)
def test_the_rest_of_the_session_is_judged_as_before(program: str) -> None:
    waiting = [{"role": "user", "text": f"hello {n}?"} for n in range(3)]
    found = _verdict(_log(program, *ASKED, AGAIN, ANSWER, *waiting)).findings
    assert "session_answers.unanswered" in {finding.code for finding in found}


@pytest.mark.parametrize("program", ["claude_code", "pi"])
def test_a_refusal_tells_that_the_hole_was_sent(program: str) -> None:
    refused = {"role": "assistant", "text": "API Error: 400", "refused": True}
    found = _verdict(_log(program, *ASKED, AGAIN, refused, AGAIN, ANSWER)).findings
    assert "tool_pairing.unanswered" in {finding.code for finding in found}


def test_a_log_of_which_a_tenth_of_the_results_is_gone_is_a_doubt() -> None:
    lost = [row for n in range(4) for row in ({"call": f"x{n}"}, AGAIN)]
    verdict = _verdict(_log("codex", *ASKED[:3], *lost, ANSWER))
    assert verdict.verdict == "unknown"
    assert verdict.doubts[0].startswith("4 of 5 calls have no result: the log may lack lines")
    assert not verdict.findings


def test_a_chat_without_a_program_is_taken_at_its_word() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    done = {"role": "tool", "tool_call_id": "c0", "content": "a.py"}
    rows: list[Row] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [{**call, "id": "c0"}]},
        done,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": "done"},
    ]
    found = _verdict(json.dumps(rows).encode()).findings
    assert "tool_pairing.unanswered" in {finding.code for finding in found}
