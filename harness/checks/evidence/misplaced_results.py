"""Which run a result belongs to that stands under the id of another call.

Only words tell it. So an answer has to begin the sent text, and an error has to be long enough that
no other text holds it by chance.
"""

from __future__ import annotations

from bisect import bisect_left

from harness.checks.evidence.carried_words import BEGINNING
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.told_results import is_slow
from harness.core.history.exchanges import Ask, Execution
from harness.core.history.trace import Trace, Turn
from harness.core.values.plans import Kill, Raise

_LEAST_OF_ERRORS = 8
"""An error of fewer characters, such as `no disk`, stands in other words by chance."""

_NO_WORDS = frozenset({"timeout", "connect", "dns", "connect_timeout", "write_timeout"})
"""Errors of the transport: their words are the client's, and not the tool's."""


def error_words(run: Execution) -> str:
    """The text of a tool's error; "" for a time-out, a kill, a lost or slow answer."""
    if (
        run.given_up
        or is_slow(run)
        or (run.answered and any(isinstance(s, Kill) for s in run.answered.steps))
    ):
        return ""
    if run.answered is None or not isinstance(run.answered.value, dict):
        steps = run.answered.steps if run.answered else ()
        return " ".join(
            s.message for s in steps if isinstance(s, Raise) and s.error not in _NO_WORDS
        )
    return run.text


def swapped_with(turn: Turn, ask: Ask, run: Execution) -> Execution | None:
    """Return the other execution whose answer was sent as the result of a call.

    The sent text must begin with that answer and have the same error flag. An agent's own words,
    for example about a late answer, may hold a short answer by chance.
    """
    own, sent = squeeze(run.text), squeeze(ask.sent.text if ask.sent else "")
    if ask.sent is None or not own or own[:BEGINNING] in sent:
        return None
    for other in turn.executions:
        if other.ask is ask or not other.answered or other.n >= ask.sent_n:
            continue
        said = squeeze(other.text)
        if said and other.failed == ask.sent.is_error and sent.startswith(said):
            return other
    return None


def failed_beside(trace: Trace, ask: Ask) -> list[Execution]:
    """The calls of the same answer that failed before a result was sent."""
    first, last = (
        bisect_left(trace.executions, n, key=lambda run: run.n)
        for n in (ask.exchange.n, ask.sent_n)
    )
    runs = trace.executions[first:last]
    return [r for r in runs if r.failed and r.ask and r.ask.exchange is ask.exchange]


def with_error_of(trace: Trace, ask: Ask, own: str) -> Execution | None:
    """The failed call of the same answer whose error stands as the result of this one, which said
    something else: it has the same words, or holds that error.

    A loop that runs a batch knows one call at the time of the error (huggingface/smolagents#2554).
    """
    sent = squeeze(ask.sent.text) if ask.sent else ""
    for run in failed_beside(trace, ask) if sent else ():
        error, told = squeeze(error_words(run)), run.ask.sent if run.ask else None
        is_same = sent == error != "" or (told is not None and sent == squeeze(told.text))
        is_held = len(error) >= _LEAST_OF_ERRORS and error in sent
        if run.ask is not ask and (is_same or is_held) and sent not in squeeze(own):
            return run
    return None
