"""Whether an answer that broke off stays a part, and one that came whole stays whole.

The status of a stream was 200 long before it broke. What had come by then is no answer: nothing of
it runs, nothing of it is kept as if it were one, and somebody says what happened. And a stream is
bytes until its events are complete, however they are cut and whatever ends their lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import zip_longest

from harness.checks.declarations import excused_by, needs
from harness.checks.evidence.excuses import CANCEL, KILL, LIMIT, Case
from harness.checks.evidence.message_lists import squeeze
from harness.checks.evidence.outcomes import TELLING, claimed, is_taken
from harness.core.history.exchanges import Exchange, Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import Message, side
from harness.core.values.plans import Kill, Sent
from harness.core.values.verdict import Finding

_CODE = "stream_error_handled"
_REPLACED = "\ufffd"
_ORDERLY = ("next", "returned", "crashed")
_HALF = re.compile(r"[\ud800-\udfff]|\\ud[89a-f][0-9a-f]{2}")


@needs("model", told_by="run")
@excused_by(stored=(CANCEL,), told=(CANCEL, KILL, LIMIT))
def stream_error_handled(history: History) -> Iterator[Finding | Case]:
    """An answer that breaks off is neither run nor kept: it is asked again, or its end is told.

    Of a main answer whose status was good and which ended with an error event, or before its
    terminal event: `executed`: a tool runs for a call in it. `stored`: its text, as far as it came,
    is a row, and no row says that it broke off. `passed_off`: it is delivered as the reply of a
    successful turn. `silent`: the model is not asked again in the turn, and the user is told
    nothing. Of a main answer that came whole: `chunks`: the final has replacement characters where
    the answer has none, so its pieces were decoded one by one.
    Not meant: a part that is kept with a mark, or told as one; a part that was shown as it came,
    and that a reply or an error then replaces; an answer that a kill of the agent or a cancel cut
    off; replacement characters that the model wrote. A provider that was overloaded said so in an
    event after its 200, and neither retry nor fallback saw it (BerriAI/litellm#6532). An agent
    mends it by counting an answer only when its terminal event has come. Source: invariant 25,
    with chunking_neutral.
    """
    trace = history.trace
    for run in trace.executions:
        if run.ask is not None and _is_broken(run.ask.exchange):
            text = f"{run.called.key}: {run.request.name} runs for an answer that broke off"
            yield Finding(f"{_CODE}.executed", text, (run.ask.exchange.n, run.n))
    for turn in trace.turns.values():
        main = turn.main
        for exchange, after in zip_longest(main, main[1:]):
            if _is_broken(exchange):
                yield Case("stored", _kept(trace, turn, exchange, after), turn)
                yield Case("told", _ended(turn, exchange, after), turn)
            elif exchange.succeeded:
                yield from _decoded(turn, exchange, after)


def _is_broken(exchange: Exchange) -> bool:
    """Whether a part of an answer came, and not its end; not when the agent itself was ended."""
    a = exchange.answered
    if a is None or a.complete or not a.blocks or (a.status or 200) >= 400:
        return False
    kinds = set(map(type, a.steps))
    return exchange.purpose == "main" and Sent in kinds and Kill not in kinds


def _kept(trace: Trace, turn: Turn, broken: Exchange, after: Exchange | None) -> Iterator[Finding]:
    """The part as a row, until the next answer or the turn's end, if nothing there marks it."""
    assert broken.answered is not None
    until = turn.settled_n
    if after is not None:
        until = after.answered.n if after.answered else 0
    rows = list(_rows(trace, turn.session, broken.answered.n, until))
    said = squeeze(broken.reply.text) if broken.reply else ""
    told = {squeeze(e.reply.text) for e in turn.main if e.n < broken.n and e.reply and e.succeeded}
    parts = [n for n, row in rows if _is_part(row, said) and squeeze(row.text) not in told]
    if parts and all(_is_part(row, said) or not row.text.strip() for _, row in rows):
        text = f"what came of {broken.called.key} is stored as an answer, and it broke off"
        yield Finding(f"{_CODE}.stored", text, (broken.n, parts[0]))


def _rows(trace: Trace, session: str, after_n: int, until_n: int) -> Iterator[tuple[int, Message]]:
    """The rows that a session stored between two events."""
    stored = trace.stored
    for place in range(bisect_left(stored, after_n, key=lambda s: s.n), len(stored)):
        event = stored[place]
        if event.n > until_n:
            return
        if event.session in ("", session):
            for row in event.added:
                yield event.n, trace.messages.get(row.digest, Message("user"))


def _is_part(row: Message, said: str) -> bool:
    text = squeeze(row.text)
    return side(row) == "assistant" and bool(text) and said.startswith(text)


def _ended(turn: Turn, broken: Exchange, after: Exchange | None) -> Iterator[Finding]:
    """What the user is told before the model is asked again, if it is."""
    told = [s for s in turn.sendings if s.n > broken.n and _tells(s)]
    later = [s for s in told if after is None or s.n < after.n]
    if after is None and not later and turn.settled_by in _ORDERLY:
        text = f"{broken.called.key} broke off, was not asked again, and the user is told nothing"
        yield Finding(f"{_CODE}.silent", text, (broken.n, turn.settled_n))
    said = squeeze(broken.reply.text) if broken.reply else ""
    for sending in later:
        part = squeeze(sending.request.text)
        whole = sending.request.kind == "final" and claimed(sending) == "completed"
        if whole and part and said.startswith(part):
            text = f"what came of {broken.called.key} is delivered as a reply, and it broke off"
            yield Finding(f"{_CODE}.passed_off", text, (broken.n, sending.n))


def _tells(sending: Sending) -> bool:
    return sending.request.kind in TELLING and is_taken(sending)


def _decoded(turn: Turn, whole: Exchange, after: Exchange | None) -> Iterator[Finding]:
    """The final that follows a whole answer, if characters of it were lost on the way."""
    said = whole.reply.text if whole.reply else ""
    if not said.strip() or said.isascii() or _REPLACED in said or _has_halves(said):
        return
    for sending in turn.endings:
        last = whole.n < sending.n and (after is None or sending.n < after.n)
        if last and _REPLACED in sending.request.text:
            text = f"{whole.called.key} came whole, and the reply has lost characters of it"
            yield Finding(f"{_CODE}.chunks", text, (whole.n, sending.n))


def _has_halves(text: str) -> bool:
    """Whether a text holds halves of characters, for which U+FFFD may rightly stand; a history that
    was read from its file has them as escapes."""
    return _HALF.search(text) is not None
