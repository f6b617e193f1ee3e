"""A refusal of what the recorded agent sent is not a fault: the fake model refuses it by itself."""

from __future__ import annotations

import json

import pytest

from harness import providers
from harness.core.values.messages import Message
from harness.core.values.plans import ApiError
from harness.recordings.importing import fidelity
from harness.recordings.importing.model_script import NO_ANSWER
from harness.recordings.importing.recorded_errors import failed_turn
from tests.recordings.importing.stories import assistant, call, log, result, told, user

UNANSWERED = (
    "messages.236: `tool_use` ids were found without `tool_result` blocks immediately after: "
    "toolu_019t. Each `tool_use` block must have a corresponding `tool_result` block in the next "
    "message."
)
BODY = {"type": "error", "error": {"type": "invalid_request_error", "message": UNANSWERED}}


@pytest.mark.parametrize(
    "message",
    [
        UNANSWERED,
        "messages: text content blocks must be non-empty",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
        "Invalid 'input[3].call_id': string too long.",
    ],
)
def test_a_refusal_of_the_messages(message: str) -> None:
    assert failed_turn(ApiError(400, "invalid_request_error", message)).bad_request


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "prompt is too long: 209 tokens > 200 maximum"),
        (400, "This model's maximum context length is 8 tokens."),
        (400, "Your credit balance is too low to access the Anthropic API."),
        (400, ""),
        (401, UNANSWERED),
        (413, "Request too large"),
        (429, "messages: roles must alternate"),
        (500, UNANSWERED),
    ],
)
def test_any_other_error_is_a_fault(status: int, message: str) -> None:
    assert not failed_turn(ApiError(status, "x", message)).bad_request


@pytest.mark.parametrize("wire", providers.names())
def test_the_rules_of_each_provider_are_known(wire: str) -> None:
    """Sentences of a rule with its blanks filled in; rules of the window are not among them."""
    texts = [e.message for e in providers.by_name(wire).refusals().values() if e.status == 400]
    filled = [text.replace("{", "").replace("}", "") for text in texts]
    known = [text for text in filled if failed_turn(ApiError(400, "", text)).bad_request]
    assert len(known) >= 0.8 * len(filled)


def _failing(text: str) -> Message:
    return assistant(text)


def test_a_dead_session_has_no_faults_and_can_be_played() -> None:
    refused = _failing(f"API Error: 400 {json.dumps(BODY)}")
    made = told(log(user("a"), call("f", "1"), user("b"), refused, user("c"), refused))
    assert "faults" not in made.document
    assert [turn for turn in made.document["script"] if turn.get("say") == NO_ANSWER]
    assert dict(made.fidelity.gaps)[fidelity.BAD_REQUESTS] == 2
    assert fidelity.FAILURES not in dict(made.fidelity.gaps)


def test_an_error_that_the_log_marks_keeps_the_words_of_the_provider() -> None:
    said = json.dumps({"error": {"type": "overloaded_error", "message": "Overloaded"}})
    marked = ApiError(0, "", f"529 {said}")
    made = told(log(user("a"), assistant("?!"), user("b"), assistant("B."), failures={1: marked}))
    (fault,) = made.document["faults"]
    assert (fault["status"], fault["message"], fault["when"]) == (500, "Overloaded", 1)
    bad = ApiError(400, "", f"400 {json.dumps(BODY)}")
    assert "faults" not in told(log(user("a"), assistant("?!"), failures={1: bad})).document


def test_calls_behind_a_refusal_are_counted_as_a_correct_agent_makes_them() -> None:
    refused, busy = _failing(f"API Error: 400 {json.dumps(BODY)}"), _failing("API Error: 529")
    story = (user("a"), refused, user("b"), call("f", "1"), result("1", "x"), busy, assistant("B."))
    (fault,) = told(log(*story)).document["faults"]
    assert (fault["status"], fault["when"]) == (529, 3)
