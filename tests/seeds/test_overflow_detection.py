"""Statements 40 to 43 and 58 to 63: what says that the prompt is too long, and what only quotes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

from harness.agent import agent as reference
from harness.agent.models.failures import OVERFLOW_PHRASES, SYNTHETIC, classify, classify_answer
from harness.agent.turn_policy import Policy
from harness.checks.budgets import bounded_turn
from harness.runner import run
from tests.agent.replies import error, error_body, message_events, sse, text, use
from tests.mutants.model_failures import follows_one
from tests.scenarios.all_runs import all_runs, named
from tests.seeds.caught import caught
from tests.seeds.long_talk import ends, stand

SEVEN = [
    "prompt is too long",
    "request too large",
    "maximum context length",
    "context_length_exceeded",
    "input tokens exceed",
    "input is too long",
    "content length exceeds",
]
MAIN_COMPACT_MAIN = ["main", "compact", "main"]


def _error(status: int, message: str, type: str = "invalid_request_error") -> Exception:
    """What the SDK raises for such an answer."""
    body = error_body(message, type)
    response = httpx2.Response(status, json=body, request=httpx2.Request("POST", "http://x.test"))
    return anthropic.APIStatusError(message, response=response, body=body)


@pytest.mark.seed(40)
@pytest.mark.parametrize("phrase", SEVEN)
def test_each_phrase_in_any_case_alone_or_in_a_sentence(phrase: str) -> None:
    for words in (phrase, phrase.upper(), phrase.title(), f"Sorry: {phrase}, 3 > 2."):
        assert classify(_error(400, words)) == "overflow"
        assert classify(_error(200, words)) == "overflow"
        assert classify(RuntimeError(words)) == "overflow"
    assert set(SEVEN) <= set(OVERFLOW_PHRASES)


@pytest.mark.seed(40)
def test_the_word_of_an_error_code_says_so_too() -> None:
    assert classify(_error(400, "prompt_too_long")) == "overflow"
    assert classify(_error(400, "Error code: prompt_too_long")) == "overflow"


@pytest.mark.seed(41)
@pytest.mark.parametrize(
    "failure",
    [
        httpx2.ReadTimeout("timed out"),
        anthropic.APIConnectionError(request=httpx2.Request("POST", "http://x.test")),
        _error(401, "prompt is too long", "authentication_error"),
        _error(403, "request too large", "permission_error"),
        _error(429, "Your input tokens exceed the limit a minute", "rate_limit_error"),
        _error(400, "max_tokens_exceeded"),
        _error(400, "your prompt was long"),
        _error(400, "tokens"),
        _error(529, "Overloaded", "overloaded_error"),
        RuntimeError("prompt was too long ago"),
    ],
    ids=str,
)
def test_other_errors_are_none(failure: Exception) -> None:
    assert classify(failure) != "overflow"


@pytest.mark.seed(41, kind="mutant")
def test_a_pattern_too_many_is_caught() -> None:
    caught("overflow_by_tokens")


def _deep(link: str) -> Exception:
    """An error three links above the one that has the phrase."""
    below: Exception = ValueError("Prompt is too long")
    for name in ("a", "b", "c"):
        above = RuntimeError(name)
        setattr(above, link, below)
        below = above
    return below


@pytest.mark.seed(42)
@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_the_phrase_is_found_three_links_down_and_circles_end(link: str) -> None:
    assert classify(_deep(link)) == "overflow"
    first, second = RuntimeError("a"), RuntimeError("b")
    setattr(first, link, second)
    setattr(second, link, first)
    assert classify(first) is None
    setattr(first, link, first)
    assert classify(first) is None


@pytest.mark.seed(43, kind="mutant")
def test_a_cause_does_not_hide_the_context() -> None:
    error = RuntimeError("the stream failed")
    error.__cause__, error.__context__ = OSError("closed"), ValueError("prompt is too long")
    assert classify(error) == "overflow"
    assert not follows_one(error)
    caught("follows_only_cause")


@pytest.mark.seed(58)
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_with_the_phrase_in_its_content_only_is_detected(
    tmp_path: Path, stream: bool
) -> None:
    """A wrapper's message marked as an error: the model's name is not a model's."""
    written: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": SYNTHETIC,
    }
    written |= {"stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 9}}
    written |= text("API Error: 400 prompt is too long: 9 tokens > 8 maximum")
    body: Any = sse(*message_events(written)) if stream else httpx2.Response(200, json=written)
    ran = stand(tmp_path, body, text("fine"))
    ran.options |= {"stream": stream, "partial": True}
    assert ran.run().provider.purposes == MAIN_COMPACT_MAIN
    assert ends(ran) == [("final", "ok", "fine")]
    assert "API Error" not in str(ran.rows()) + str(ran.said)


@pytest.mark.seed(58)
def test_a_wrappers_other_error_is_no_answer_and_no_overflow(tmp_path: Path) -> None:
    assert classify_answer(SYNTHETIC, 5, "Credit balance is too low") == "permanent"
    assert classify_answer("claude", None, "Prompt is too long") is None


@pytest.mark.seed(59, kind="mutant")
def test_a_result_message_of_success_is_retried_and_not_stored() -> None:
    played = caught("answers_with_result_message")
    assert played.history.trace.sendings[-1].request.text == "Prompt is too long"
    for stream in ("", "+stream"):
        good = run(named(f"overflow-shapes/result-message{stream}"), reference).history
        assert [e.purpose for e in good.trace.exchanges] == MAIN_COMPACT_MAIN
        rows = [good.trace.messages[r.digest] for s in good.trace.stored for r in s.added]
        assert not any("too long" in row.text for row in rows)


@pytest.mark.seed(60, kind="mutant")
def test_a_quotation_in_the_answer_is_an_answer() -> None:
    played = caught("overflow_by_answer_text")
    assert "compact" in [e.purpose for e in played.history.trace.exchanges]
    assert classify_answer("claude-sonnet-5", 12, "Prompt is too long") is None


@pytest.mark.seed(61, kind="mutant")
def test_a_quotation_in_a_tool_result_or_a_question_is_one() -> None:
    caught("overflow_by_conversation")
    for variant in ("", "/in-a-tool-result", "/in-a-tool-error"):
        good = run(named(f"overflow-lookalikes{variant}"), reference)
        assert good.verdict.verdict == "pass"
        assert {e.purpose for e in good.history.trace.exchanges} == {"main"}


@pytest.mark.seed(62)
def test_a_413_that_no_compaction_helps_is_given_up_with_a_clear_error(tmp_path: Path) -> None:
    large = error(413, "Request too large (max 32MB)", "request_too_large")
    ran = stand(tmp_path, large).run()
    assert ran.provider.purposes == [*MAIN_COMPACT_MAIN, "main"]
    [(kind, status, told)] = ends(ran)
    assert (kind, status) == ("error", "failed")
    assert re.search("send less at once.*all_attempts_exhausted", told)


@pytest.mark.seed(62, kind="mutant")
def test_a_413_in_html_is_one_too() -> None:
    caught("deaf_to_413")


@pytest.mark.seed(63)
def test_the_calls_of_compactions_are_no_attempts(tmp_path: Path) -> None:
    """There is no CLI below that compacts by itself; the calls for summaries are our own, and use
    up neither the attempts of the escalation nor the model calls of the turn."""
    full = error(400, "prompt is too long: 208380 tokens > 200000 maximum")
    ran = stand(tmp_path, full, full, text("fine"))
    ran.run(policy=Policy(max_model_calls=4))
    assert ran.provider.purposes == [*MAIN_COMPACT_MAIN, "main"]
    assert ends(ran) == [("final", "ok", "fine")]


@pytest.mark.seed(63)
def test_the_checks_count_no_compaction_as_an_attempt() -> None:
    """Other agents have a program below that compacts by itself. Its calls are marked, and no bound
    of a turn counts them."""
    history = run(named("overflow-shapes"), reference).history
    assert [e.purpose for e in history.trace.exchanges] == ["main", "compact", "main"]
    assert not list(bounded_turn(history, max_requests=2))
    assert list(bounded_turn(history, max_requests=1))


SHAPES = {
    "overflow-shapes": 400,
    "overflow-shapes/reply-does-not-fit": 400,
    "overflow-shapes/too-large": 413,
    "overflow-shapes/too-large-for-a-proxy": 413,
    "overflow-shapes/stop-reason": 200,
    "overflow-shapes/result-message": 200,
    "overflow-shapes/error-event": 200,
}


@pytest.mark.seed(40, 58, 59, 62)
@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_leads_to_one_compaction_and_an_answer(name: str) -> None:
    runs = [s for s in all_runs() if s.run_name.removesuffix("+stream") == name]
    assert runs
    for scenario in runs:
        history = run(scenario, reference).history
        assert [e.purpose for e in history.trace.exchanges] == MAIN_COMPACT_MAIN
        assert history.trace.exchanges[0].status == SHAPES[name]
        assert history.trace.sendings[-1].request.text == "Day four is free."


@pytest.mark.seed(58, kind="mutant")
def test_agents_that_do_not_know_a_shape_are_caught() -> None:
    caught("deaf_to_error_events")
    caught("half_answer_is_whole")


@pytest.mark.seed(61)
def test_an_error_of_a_tool_that_the_model_quotes_is_told(tmp_path: Path) -> None:
    answer = "It said: prompt is too long: 9 tokens > 8 maximum"
    ran = stand(tmp_path, use("look", {"a": 1}), text(answer))
    ran.tool("look", ValueError("prompt is too long"))
    ran.run()
    assert ran.provider.purposes == ["main", "main"]
    assert ends(ran) == [("final", "ok", answer)]
