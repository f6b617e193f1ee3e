"""request_fits: what was too large comes back smaller."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.sizes import request_fits
from harness.core.values.messages import user
from tests.checks.histories import Story, codes

SHAPES: list[dict[str, Any]] = [
    {"status": 400, "error": "V23", "refused": ("V23",)},
    {"status": 400, "error": "V26", "refused": ("V26",)},
    {"status": 400, "too_large": True},
    {"status": 413},
    {"stop": "model_context_window_exceeded"},
    {"complete": False, "too_large": True, "outcome": "error"},
    {"usage": {"input_tokens": 0}, "too_large": True},
]


def refused(story: Story, tokens: int, shape: dict[str, Any]) -> Story:
    """A request of so many tokens, answered in this shape."""
    return story.reply("half", messages=[user(f"{tokens}")], tokens=tokens, **shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("then", "found"), [(900, []), (1000, ["request_fits.again"])])
def test_the_next_request_is_smaller(shape: dict[str, Any], then: int, found: list[str]) -> None:
    story = refused(Story().turn("go"), 1000, shape)
    story.reply("x", messages=[user("more words")], tokens=then)
    assert codes(request_fits(story.end())) == found


def test_each_refusal_asks_for_less_and_one_that_is_ignored_is_told_once() -> None:
    story = Story().turn("go")
    for tokens in (1000, 500, 500, 600):
        refused(story, tokens, SHAPES[0])
    assert codes(request_fits(story.end())) == ["request_fits.again"]


def test_another_failure_in_between_excuses_nothing() -> None:
    story = refused(Story().turn("go"), 1000, SHAPES[3])
    story.fail(529, messages=[user("less")], tokens=100)
    story.reply("x", messages=[user("all of it")], tokens=1000)
    assert codes(request_fits(story.end())) == ["request_fits.again"]


def test_a_conversation_may_grow_again_after_a_success() -> None:
    story = refused(Story().turn("go"), 1000, SHAPES[0])
    story.reply("x", messages=[user("less")], tokens=100)
    story.reply("x", messages=[user("and more, and more")], tokens=2000)
    assert codes(request_fits(story.end())) == []


def test_the_next_turn_may_try_and_so_may_a_retry_of_the_sdk() -> None:
    story = refused(Story().turn("go"), 1000, SHAPES[0])
    story.reply("x", messages=[user("1000")], tokens=1000, sdk_retry=1, status=413).final("no")
    refused(story.turn("on"), 1000, SHAPES[0])
    assert codes(request_fits(story.end())) == []


def test_a_summary_is_no_main_request() -> None:
    story = refused(Story().turn("go"), 1000, SHAPES[0])
    story.reply("sum", purpose="compact", messages=[user("tell all this")], tokens=1100)
    assert codes(request_fits(story.end())) == []
