"""Which run a result belongs to that stands under the id of another call. What a result holds of an
error, and which results no call waits for.

Only words tell it. So an answer has to begin the sent text, and an error has to be long enough that
no other text holds it by chance.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable
from itertools import takewhile

import msgspec

from harness.checks.evidence.carried_words import BEGINNING
from harness.checks.evidence.cut_results import is_announced
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.told_results import is_slow
from harness.core.history.exchanges import Ask, Execution
from harness.core.history.trace import Trace, Turn
from harness.core.values.carried_text import lost_parts, own_words
from harness.core.values.messages import Message, ToolResult, ToolUse
from harness.core.values.plans import Kill, Raise
from harness.core.values.spelt_text import Spelt

_LEAST_OF_ERRORS = 8
"""An error of fewer characters, such as `no disk`, stands in other words by chance."""

_SHORT_ERROR, _OWN_WORDS = 600, 4
"""A longer error may be told by one of its lines, and so may one beside more words of the agent."""

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


_WORD = re.compile(r"[^\W_]+")
_LEAST = 4  # the least letters of a word that two texts share by more than chance


def _pieces(text: str) -> set[str]:
    """The words and numbers of a text. A word that is not of ASCII counts by its pairs of
    characters, because some languages write no spaces."""
    words = set(_WORD.findall(text.casefold()))
    other = {word for word in words if not word.isascii()}
    pairs = {word[at : at + 2] for word in other for at in range(len(word) - 1)}
    return pairs | {w for w in words - other if len(w) >= _LEAST or (len(w) > 1 and w.isdigit())}


_LEAST_CUT, _MOST_CUT = 12, 0.9
"""How many characters of an error a cut leaves at least, and which share of it at most."""


_MARKS = frozenset(".;:!?,([-")


def lack_of_error(sent: ToolResult, run: Execution) -> str:
    """How little of the tool's error a result holds; "" if enough."""
    words = error_words(run)
    own = _pieces(words)
    if own and not own & _pieces(sent.text):
        return "nothing of its error"
    lines = _lines(words)
    if _is_one_of(lines, words, sent):
        return f"one of the {len(lines)} lines of its error"
    return "" if is_announced(words, sent.text) else _cut_of(words, sent.text)


def _cut_of(words: str, sent: str) -> str:
    """How many characters a text holds of a short error that is cut in the middle of a sentence, in
    words; "" where it is not. The end of a line or a sentence is a place where an agent may end."""
    said, told = (" ".join(text.split()) for text in (words, sent))
    if len(words) > _SHORT_ERROR or said in told:
        return ""
    told = told.rstrip("\"'`}]) ")
    lengths = range(int(len(said) * _MOST_CUT), _LEAST_CUT, -1)
    kept = next((said[:n].rstrip() for n in lengths if told.endswith(said[:n].rstrip())), "")
    ends = [" ".join(words[: m.start()].split()) for m in re.finditer(r"\n", words)]
    edge = kept[-1:] + said[len(kept) :].lstrip()[:1]
    if not kept or kept in ends or not _MARKS.isdisjoint(edge):
        return ""
    return f"{len(kept)} of the {len(said)} characters of its error"


def _lines(words: str) -> list[str]:
    """The lines of a short error without a trace of calls, which an agent may leave out."""
    if len(words) > _SHORT_ERROR or "Traceback" in words:
        return []
    return [line for line in words.splitlines() if _pieces(line) and not line[0].isspace()]


def _is_one_of(lines: list[str], words: str, sent: ToolResult) -> bool:
    """Whether one line of several stands in a result, beside few words of the agent's own, and
    nothing says that the others are left out."""
    if len(lines) < 3 or is_announced(words, sent.text):
        return False
    spelt = Spelt(sent.text)
    few = len(own_words(spelt, Spelt(words))) <= _OWN_WORDS
    return few and sum(not lost_parts(line, spelt) for line in lines) == 1


def swapped_with(turn: Turn, ask: Ask, run: Execution) -> Execution | None:
    """Return the other execution whose answer was sent as the result of a call.

    The sent text must begin with that answer and have the same error flag. An agent's own words,
    for example about a late answer, may hold a short answer by chance. An answer that begins with
    the other one may be sent in another spelling, such as `?` for half of a character.
    """
    own, sent = squeeze(run.text), squeeze(ask.sent.text if ask.sent else "")
    if ask.sent is None or not own or own[:BEGINNING] in sent:
        return None
    for other in turn.executions:
        if other.ask is ask or not other.answered or other.n >= ask.sent_n:
            continue
        said = squeeze(other.text)
        is_other = said and sent.startswith(said) and not own.startswith(said)
        if is_other and other.failed == ask.sent.is_error:
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


def is_same(before: Message, after: Message) -> bool:
    """Whether two messages differ in the ids of calls at most, as after a repair of ids that no
    request can hold."""
    return _without_ids(before) == _without_ids(after)


def _without_ids(message: Message) -> Message:
    blocks = (
        msgspec.structs.replace(b, id="") if isinstance(b, ToolUse | ToolResult) else b
        for b in message.blocks
    )
    return Message(message.role, tuple(blocks))


def waiting_calls(trace: Trace, rows: Iterable[str]) -> set[str]:
    """The ids of the calls in some rows that have no result there."""
    kept = [m for digest in rows if (m := trace.messages.get(digest))]
    calls = {use.id for message in kept for use in message.tool_uses}
    return calls - {result.id for message in kept for result in message.tool_results}


def is_unasked(message: Message, waiting: Container[str]) -> bool:
    """Whether a message holds only results that no call waits for, so that no request can."""
    blocks = message.blocks
    return bool(blocks) and all(isinstance(b, ToolResult) and b.id not in waiting for b in blocks)


def is_had_before_a_stop(turn: Turn, run: Execution) -> bool:
    """Whether the agent had the result of a run before it ran another call, and the user stopped
    the turn after that.

    Calls that run side by side may all be ended by a stop that comes as the first of them ends.
    """
    last = turn.executions[-1] if turn.executions else run
    had_n = run.answered.n if run.answered else last.n
    others = takewhile(lambda other: other.n > had_n, reversed(turn.executions))
    return any(other.n < turn.cancelled_n for other in others)
