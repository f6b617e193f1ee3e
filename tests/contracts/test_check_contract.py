"""Every check keeps its laws, and a check that breaks one is told so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from harness.checks import Finding, History, checks, judge, needs
from harness.contracts import check_check
from harness.contracts.check_contract import RUNS, played
from harness.core.history.history import decode
from tests.checks.test_properties import HISTORIES
from tests.contracts.amount import EXAMPLES

pytestmark = pytest.mark.hypothesis

CHECKS = checks()


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_keeps_its_laws(name: str) -> None:
    at_end = not getattr(CHECKS[name], "needs", ())
    check_check(CHECKS[name], at_end=at_end, more=HISTORIES, examples=EXAMPLES)


def test_the_played_histories_have_something_to_find() -> None:
    """A law about findings says nothing about a check that finds nothing."""
    codes = {f.code for n in range(RUNS) for f in judge(decode(played(n))).findings}
    assert len({code.partition(".")[0] for code in codes}) >= 10


@needs("outbox")
def short_replies(history: History, *, most: int = 1) -> Iterator[Finding]:
    """A reply has at most `most` letters."""
    for sending in history.trace.sendings:
        if len(sending.request.text) > most:
            yield Finding("short_replies.long", f"more than {most} letters", (sending.n,))


def test_a_right_check_passes() -> None:
    check_check(short_replies)


def clears_the_trace(history: History) -> Iterator[Finding]:
    """Takes things out of the trace as it looks at them."""
    while history.trace.sendings:
        history.trace.sendings.pop()
    yield from ()


def adds_an_event(history: History) -> Iterator[Finding]:
    """Writes down that it was there."""
    history.value({"seen": True})
    yield from ()


_seen = count()


def remembers(history: History) -> Iterator[Finding]:
    """Counts its own calls."""
    if history.events:
        yield Finding("remembers.call", f"call {next(_seen)}", (1,))


def another_code(history: History) -> Iterator[Finding]:
    """Speaks in the name of another check."""
    if history.events:
        yield Finding("valid_request.V4", "no", (1,))


def no_rule(history: History) -> Iterator[Finding]:
    """Its code has no rule."""
    if history.events:
        yield Finding("no_rule", "no", (1,))


def no_proof(history: History) -> Iterator[Finding]:
    """It names no event."""
    if history.events:
        yield Finding("no_proof.at_all", "believe me")


def proof_elsewhere(history: History) -> Iterator[Finding]:
    """It names an event that does not exist."""
    if history.events:
        yield Finding("proof_elsewhere.n", "see there", (len(history.events) + 1,))


def of_no_class(history: History) -> Iterator[Finding]:
    """Its class does not exist."""
    if history.events:
        yield Finding("of_no_class.n", "no", (1,), class_="opinion")  # type: ignore[arg-type]


def too_early(history: History) -> Iterator[Finding]:
    """It reports what may still come."""
    trace = history.trace
    for turn in trace.turns.values():
        if turn.delivery and not turn.sendings:
            yield Finding("too_early.silent", "no word to the user", (turn.delivery.n,))


def crashes(history: History) -> Iterator[Finding]:
    """Takes every run for one with a turn."""
    turns = list(history.trace.turns.values())
    if turns[0].delivery is None:
        yield Finding("crashes.delivery", "nothing was delivered", (turns[0].opened_n,))


def yields_words(history: History) -> Iterator[Any]:
    """A text is not a finding."""
    if history.events:
        yield "wrong"


@needs("nowhere")  # type: ignore[arg-type]
def needs_an_unknown_seam(history: History) -> Iterator[Finding]:
    """It needs a seam that does not exist."""
    yield from ()


def has_a_wrong_default(history: History, *, most: int = "a few") -> Iterator[Finding]:  # type: ignore[assignment]
    """Its default is not of its type."""
    yield from ()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (clears_the_trace, "changes the trace"),
        (adds_an_event, "changes the events"),
        (remembers, "has other findings the second time"),
        (another_code, "a code is `another_code.RULE`"),
        (no_rule, "a code is `no_rule.RULE`"),
        (no_proof, "names no event that proves it"),
        (proof_elsewhere, "which does not exist"),
        (
            of_no_class,
            "is 'opinion'; there are defect, weakness, advice",
        ),
        (too_early, "at the beginning of a run, but not in the whole run"),
        (crashes, "raises IndexError"),
        (yields_words, "yields a str: a check yields findings"),
        (needs_an_unknown_seam, "needs 'nowhere'"),
        (has_a_wrong_default, "the default of most does not fit"),
    ],
)
def test_a_wrong_check_is_told(wrong: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_check(wrong, examples=200)


def test_a_check_of_the_end_need_not_hold_on_prefixes() -> None:
    check_check(too_early, at_end=True)


def no_check(trace: History) -> Iterator[Finding]:
    """Its first parameter is something else."""
    yield from ()


def test_a_function_that_is_no_check_is_told() -> None:
    with pytest.raises(AssertionError, match="a check with `history`"):
        check_check(no_check)
