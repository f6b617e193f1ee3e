"""What an agent wrote by itself is told apart: notes, results of calls that never ran, rows.

A refusal of what the recorded agent sent is not a fault: the fake model refuses it by itself.
"""

from __future__ import annotations

import json

import pytest

from harness import providers
from harness.core.values.messages import Message, Text, ToolResult
from harness.core.values.plans import ApiError
from harness.recordings.importing import fidelity
from harness.recordings.importing.model_script import NO_ANSWER
from harness.recordings.importing.recorded_texts import (
    failed_turn,
    is_result_of_agent,
    is_row_of_agent,
    result_of_tool,
    says_that_it_failed,
)
from harness.recordings.importing.scenario_document import PLACEHOLDER
from tests.recordings.importing.stories import assistant, call, log, result, told, user

FAILED = '{"output": "", "exit_code": 3, "error": null}'


def _noted(count: int) -> str:
    return f"{FAILED}\n\n[Tool loop warning: repeated_exact_failure; count={count}; stop [now]]"


def test_a_note_behind_a_result_is_not_the_tools() -> None:
    given = result_of_tool(ToolResult("t", _noted(7)))
    assert given == ToolResult("t", FAILED)
    blocks = ToolResult(
        "t", (Text("3 hits"), Text("<system-reminder>be brief</system-reminder>\n"))
    )
    assert result_of_tool(blocks).content == (Text("3 hits"),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[Tool loop warning: quoted] in the middle of a page",
        "a page about <system-reminder>s</system-reminder> and more",
        "list[Tool]",
    ],
)
def test_a_result_that_only_looks_like_one_stays(text: str) -> None:
    assert result_of_tool(ToolResult("t", text)) == ToolResult("t", text)
    assert not is_result_of_agent(ToolResult("t", text))


def test_a_long_result_full_of_beginnings_costs_little() -> None:
    text = "[Tool loop warning: " * 100_000
    assert result_of_tool(ToolResult("t", text)).text == text


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("You've reached the maximum number of tool-calling iterations allowed. Please", True),
        ("You've reached the maximum number of iterations. Please", True),
        ("[System: Your previous response was truncated by the output limit.]", True),
        ("[Request interrupted by user for tool use]", True),
        ("Analyze the tool result. If requirements are met, provide the Final Answer.", True),
        ("<environment_context>\n<cwd>/x</cwd>", True),
        ("[Request interrupted by user] was what I saw. Why?", False),
        ("You've reached the maximum, well done", False),
        ("Analyze the tool result.", False),
        ("I saw <environment_context>. What is it?", False),
    ],
)
def test_rows_that_the_agent_made_up(text: str, own: bool) -> None:
    assert is_row_of_agent(text) is own


def test_a_loop_with_counted_notes_is_a_loop_of_the_tool() -> None:
    rounds = [
        m
        for n in range(5)
        for m in (call("terminal", f"t{n}", cmd="x"), result(f"t{n}", _noted(n)))
    ]
    last = "You've reached the maximum number of tool-calling iterations allowed."
    made = told(log(user("?"), *rounds, user(last), assistant("I gave up.")))
    assert made.document["inbox"] == "?"
    assert made.document["tools"]["terminal"]["script"] == [{"error": FAILED, "times": 5}]
    assert made.document["script"][-1] == {"say": "I gave up.", "optional": True}
    gaps = dict(made.fidelity.gaps)
    assert (gaps[fidelity.NOTES], gaps[fidelity.TERMS], gaps[fidelity.ROWS]) == (5, 5, 1)


def test_a_result_of_a_call_that_the_agent_blocked_is_missing() -> None:
    blocked = '{"error": "Blocked: the same call failed 5 times", "guardrail": {"action": "block"}}'
    made = told(log(user("?"), call("find", "t1"), result("t1", blocked), assistant("So.")))
    assert made.document["tools"]["find"]["script"] == [{"ok": PLACEHOLDER}]
    assert made.fidelity.missing == 1


def test_a_row_of_the_agent_does_not_end_the_message_before_it() -> None:
    cut = "[System: The previous response was cut off by a network error.]"
    made = told(log(user("?"), assistant("One, "), user(cut), assistant("two.")))
    blocks = [{"type": "text", "text": "One, "}, {"type": "text", "text": "two."}]
    assert made.document["script"] == [{"blocks": blocks}]


def test_a_summary_of_what_was_before_is_no_question() -> None:
    messages = (user("a"), call("f", "1"), result("1", "x"), user("Summary: a"), assistant("A."))
    made = told(log(*messages, restarts={3: 3}))
    assert made.document["inbox"] == "a"
    assert dict(made.fidelity.gaps)[fidelity.SUMMARIES] == 1


def test_an_answer_that_the_user_cut_short_runs_no_call() -> None:
    messages = (
        user("a"),
        call("f", "1"),
        user("no, b"),
        assistant("B."),
        user("c"),
        Message("assistant", ()),
    )
    made = told(log(*messages, stops={1: "aborted", 5: "aborted"}))
    assert "tools" not in made.document
    cut = told(log(*messages, stops={1: "aborted", 5: "aborted"}), at=3).document
    stored = cut["session"]["messages"]
    assert [m["content"] for m in stored] == ["a", "no, b", "B."]
    said = [turn["say"] for turn in made.document["script"]]
    assert said == ["(the recording was interrupted here)", "B.", said[0]]


def test_behind_a_blank_answer_an_agent_may_ask_again() -> None:
    messages = (user("a"), Message("assistant", ()), user("\n and  b? \nc"), assistant("B."))
    script = told(log(*messages)).document["script"]
    assert script == [
        {"blocks": []},
        {"say": NO_ANSWER, "when": {"lacks": "and  b?"}},
        {"say": "B."},
        {"say": NO_ANSWER, "times": "forever", "optional": True},
    ]


@pytest.mark.parametrize(
    "text",
    [
        FAILED, '{"output": "", "metadata": {"exit_code": 1}}',
        '{"ok": false}', '{"success": false, "n": 1}', '{"error": "no such file"}',
        '{"returncode": -9}', '{"isError": true}', '{"status": "failed"}', "Error: no such flight",
        "ValueError: x", "openai.BadRequestError: Error code: 400", "fatal: no repository",
        "Traceback (most recent call last):\n  x", "exit_code 3",
        "out\n\nCommand exited with code 12",
        "<returncode>1</returncode>\n<output></output>",
        "[The command completed with exit code 1.]",
    ],
)  # fmt: skip
def test_how_tools_say_that_they_failed(text: str) -> None:
    assert says_that_it_failed(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "ok", '{"exit_code": 0, "error": null}', '{"ok": true}', '{"error": ""}',
        '{"errors": []}', '["error"]', '{"exit_code": true}', "{not json", "0 errors: fine",
        "Errors are human", "Exit code 0", "<returncode>0</returncode>", "the error was mended",
        "exit code 1 means that it failed\nand more\nof this page",
    ],
)  # fmt: skip
def test_what_only_speaks_of_failure_is_none(text: str) -> None:
    assert not says_that_it_failed(text)


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
