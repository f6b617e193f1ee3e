"""What kind a failure is, by its status, its type and its words."""

from __future__ import annotations

import pytest

from harness.agent.models.failures import OVERFLOW_PHRASES, PICTURE_PHRASES, classify
from tests.http_library import http


class _StatusError(Exception):
    def __init__(self, status: int, text: str, type: str = "") -> None:
        super().__init__(text)
        self.status_code, self.type = status, type


@pytest.mark.parametrize("phrase", OVERFLOW_PHRASES)
def test_the_phrases_in_any_case_and_inside_a_sentence(phrase: str) -> None:
    for words in (phrase, phrase.upper(), f"Sorry, {phrase.title()}: 3 > 2"):
        assert classify(_StatusError(400, words)) == "overflow"
        assert classify(RuntimeError(words)) == "overflow"


@pytest.mark.parametrize("phrase", PICTURE_PHRASES)
def test_a_picture_that_is_refused_is_told_by_its_words(phrase: str) -> None:
    assert classify(_StatusError(400, f"Sorry: {phrase.upper()}.")) == "picture"
    assert classify(_StatusError(500, phrase)) == "transient"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (_StatusError(401, "prompt is too long"), "permanent"),
        (_StatusError(429, "input tokens exceed your rate"), "transient"),
        (_StatusError(400, "max_tokens_exceeded"), "permanent"),
        (_StatusError(400, "your prompt was long"), "permanent"),
        (_StatusError(400, "the page size exceeds the limit"), "permanent"),
        (_StatusError(413, ""), "overflow"),
        (_StatusError(529, "Overloaded"), "transient"),
        (_StatusError(200, "Overloaded", "overloaded_error"), "broken_stream"),
        (_StatusError(200, "bad", "invalid_request_error"), "permanent"),
        (http.ReadError("reset"), "broken_stream"),
        (http.ReadTimeout("stalled"), "broken_stream"),
        (AssertionError(), "broken_stream"),
        (IndexError(), "broken_stream"),
        (UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates"), "permanent"),
        (AttributeError("a mistake of ours"), None),
        (KeyError("a mistake of ours"), None),
    ],
    ids=repr,
)
def test_other_failures_are_told_apart(failure: Exception, kind: str | None) -> None:
    assert classify(failure) == kind


def test_the_phrase_is_found_down_the_chain_and_cycles_end() -> None:
    root = ValueError("Prompt is too long")
    by_cause, by_context = KeyError("a"), KeyError("b")
    by_cause.__cause__, by_context.__context__ = root, by_cause
    top = RuntimeError("stream failed")
    top.__cause__, top.__context__ = OSError("elsewhere"), by_context
    assert classify(top) == "overflow"
    first, second = KeyError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert classify(first) is None
