"""A recorded session that can no longer answer, and sessions that only look like it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from harness.checks.judge import judge
from harness.core.values.messages import Message, ToolResult, ToolUse, assistant, results, user
from harness.recordings.readers.claude_code import claude_code
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript

DEAD = 'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"%s"}}'
ORPHAN = DEAD % "messages.2: `tool_use` ids were found without `tool_result` blocks"


def _codes(*said: Message) -> list[str]:
    transcript = Transcript(name="log", messages=said, wire="anthropic", answered=True)
    found = judge(to_history(transcript), only="session_answers")
    return [finding.code for finding in found.findings]


def _talk(*replies: str) -> Iterator[Message]:
    for number, reply in enumerate(replies):
        yield user(f"Message {number}, please.")
        yield assistant(reply)


@pytest.mark.parametrize(
    "refusal",
    [
        ORPHAN,
        "API Error: 400 due to tool use concurrency issues. Run /rewind to go on.",
        "API Error: 413 request_too_large",
        "Error code: 400 - {'error': {'message': 'bad'}}",
        "litellm.BadRequestError: Error code: 400 - no tool output found",
        "Prompt is too long",
    ],
)
def test_a_session_whose_messages_are_all_refused_at_its_end_is_dead(refusal: str) -> None:
    assert _codes(*_talk("Good morning.", refusal, refusal, refusal)) == ["session_answers.dead"]
    assert _codes(*_talk("Good morning.", refusal, refusal)) == ["session_answers.dead"]


@pytest.mark.parametrize(
    "reply",
    [
        "API Error: 529 overloaded_error",
        "API Error: 429 rate_limit_error",
        "API Error: 401 authentication_error",
        DEAD % "Your credit balance is too low to access the API",
        "An API Error: 400 means that the request is malformed.",
        "Error handling in this file is complete.",
        "400 people came.",
    ],
)
def test_other_errors_and_words_about_errors_are_no_dead_session(reply: str) -> None:
    assert _codes(*_talk("Good morning.", reply, reply, reply)) == []


def test_a_session_that_goes_on_or_is_refused_once_is_not_dead() -> None:
    assert _codes(*_talk("Good morning.", ORPHAN, ORPHAN, ORPHAN, "I am back.")) == []
    assert _codes(*_talk("Good morning.", ORPHAN)) == []


def test_a_retry_for_the_same_message_is_not_a_second_message() -> None:
    assert _codes(user("Go on."), assistant(ORPHAN), assistant(ORPHAN), assistant(ORPHAN)) == []


def test_results_of_tools_that_quote_a_refusal_do_not_count() -> None:
    call = assistant(ToolUse("t1", "read_log", {}))
    quoted = results(ToolResult("t1", ORPHAN))
    assert _codes(user("Read the log."), call, quoted, assistant("The log has an error.")) == []


def test_a_session_log_is_read_so() -> None:
    lines = []
    for place, message in enumerate(_talk("Hello.", ORPHAN, ORPHAN, ORPHAN)):
        value = {"role": message.role, "content": [{"type": "text", "text": message.text}]}
        if message.text == ORPHAN:
            value |= {"model": "<synthetic>", "id": f"msg_{place}"}
        entry = {"type": message.role, "sessionId": "s1", "uuid": f"u{place}", "message": value}
        lines.append(json.dumps(entry).encode())
    (transcript,) = claude_code(lines).transcripts
    verdict = judge(to_history(transcript))
    assert [finding.code for finding in verdict.findings] == ["session_answers.dead"]
