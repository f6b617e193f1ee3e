"""The checks of requests and retries find what their slow twins find, and where they find it first.

A check tells of a message, a request or a chain of retries once; a twin tells of every request
that has it. So the first finding of each rule is where the twin's first is, and no other is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.checks.prompt_size import request_fits
from harness.checks.request_form import (
    ends_with_user,
    nonblank_content,
    wellformed_text,
)
from harness.checks.retries import backoff, retry_budget
from harness.checks.tool_ids import tool_pairing, unique_tool_ids
from harness.core.history.history import History, decode, encode
from harness.core.values.messages import Message, Text, ToolResult, ToolUse, user
from harness.core.values.verdict import Finding
from tests.checks import twins_requests as twins
from tests.checks.histories import Story

IDS = st.sampled_from(["a", "b", "c", ""])
TEXTS = st.builds(Text, st.sampled_from(["hello", " ", "", "half \ud83d", "half \\ud83d"]))
USES = st.builds(ToolUse, IDS, st.just("list"), st.just({}))
RESULTS = st.builds(ToolResult, IDS, st.sampled_from(["ok", " ", "half \ud83d"]))
MESSAGES = st.one_of(
    st.builds(Message, st.just("user"), st.lists(TEXTS | RESULTS, max_size=3).map(tuple)),
    st.builds(Message, st.just("assistant"), st.lists(TEXTS | USES, max_size=3).map(tuple)),
    st.builds(Message, st.just("system"), st.lists(TEXTS, max_size=1).map(tuple)),
)
ANSWERS = st.sampled_from(
    [
        {},
        {},
        {"stop": "pause_turn"},
        {"status": 529},
        {"status": 400, "refused": ("V9",)},
        {"purpose": "compact"},
        {"purpose": "aux"},
    ]
)
REQUESTS = st.lists(
    st.tuples(st.integers(0, 6), st.lists(MESSAGES, max_size=4), ANSWERS), min_size=1, max_size=6
)


def _played(requests: Iterable[tuple[int, list[Message], dict[str, Any]]]) -> History:
    """Requests, each of which keeps the beginning of the one before and adds to it."""
    story, last = Story().turn("go"), list[Message]()
    for keep, added, answer in requests:
        last = [*last[:keep], *added] or [user("go")]
        story.reply("x", messages=last, **answer)
    return story.end()


def _agree(found: Iterable[Finding], wrong: twins.Wrong) -> None:
    told = [(finding.code, finding.events[-1]) for finding in found]
    assert set(told) <= wrong
    first = {code: min(n for other, n in wrong if other == code) for code, _ in wrong}
    assert {code: min(n for other, n in told if other == code) for code, _ in told} == first


@given(REQUESTS, st.booleans())
def test_the_form_of_requests(requests: Any, results: bool) -> None:
    history = _played(requests)
    _agree(tool_pairing(history), twins.tool_pairing(history))
    _agree(unique_tool_ids(history), twins.unique_tool_ids(history))
    _agree(nonblank_content(history, results=results), twins.nonblank_content(history, results))
    _agree(wellformed_text(history), twins.wellformed_text(history))
    _agree(ends_with_user(history), twins.ends_with_user(history))


@given(REQUESTS)
def test_a_file_shows_half_characters_as_the_run_does(requests: Any) -> None:
    history = _played(requests)
    read = decode(encode(history.events))
    assert list(wellformed_text(read)) == list(wellformed_text(history))


TRIES = st.lists(
    st.tuples(
        st.sampled_from(["one", "one", "two"]),
        st.sampled_from([0, 50, 99, 100, 400, 1000, 1000, 8000, 30_000, 200_000]),
        st.sampled_from(
            [
                {},
                {"status": 529},
                {"status": 529},
                {"status": 429, "retry_after": "30"},
                {"status": 429, "retry_after": "0.05"},
                {"status": 429, "retry_after": "3600"},
                {"status": 413},
                {"status": 400, "error": "V23", "refused": ("V23",)},
                {"stop": "model_context_window_exceeded"},
                {"status": None},
                {"complete": False, "outcome": "error"},
            ]
        ),
        st.sampled_from([90, 100, 110]),
        st.booleans(),
    ),
    max_size=16,
)


@given(TRIES, st.integers(1, 6), st.integers(1, 12), st.integers(2, 4))
def test_retries(tries: Any, attempts: int, most: int, flat_gaps: int) -> None:
    story = Story().turn("go")
    for text, wait_ms, answer, tokens, again in tries:
        story.wait(wait_ms).reply("x", messages=[user(text)], tokens=tokens, **answer)
        if again:
            story.turn("and now?")
    history = story.end()
    _agree(request_fits(history), twins.request_fits(history))
    found = retry_budget(history, attempts=attempts, turn=most)
    _agree(found, twins.retry_budget(history, attempts, most))
    _agree(backoff(history, flat_gaps=flat_gaps), twins.backoff(history, flat_gaps))
