"""Answers that came whole, and that the agent does not take for an answer.

A provider bills each of them, and the user waits for words that the agent has. What an agent asks
for with a tool is judged in `loops.py`: here the model says that it is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harness.checks.evidence.declarations import needs
from harness.checks.evidence.turn_outcomes import calls_tools, claimed, wrong
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import ToolUse
from harness.core.values.verdict import Finding

_OTHER_BYTES = frozenset(
    {
        "sse.character_split",
        "sse.crlf_line_ends",
        "sse.crlf_split",
        "sse.no_space_after_colon",
        "sse.tiny_deltas",
        "transport.tiny_segments",
    }
)
"""Faults that leave an answer whole for each SDK: the standard of event streams allows these bytes
(WHATWG, server-sent events; incident 184). Bare carriage returns are allowed too, but some SDKs
cannot read them."""


@needs("model", told_by="run", place=235)
def answer_taken(history: History, *, repeats: int = 3) -> Iterator[Finding]:
    """What the model answers whole is the answer: it is read, and ends the turn.

    `same_words`: in one turn the model says the same words `repeats` times, without a call, and is
    asked again. Each request adds to the one before. `unread`: a request that was answered whole is
    sent again unchanged, and the turn ends with a failure.

    Not a finding for `same_words`: other words; a new message, a result or a failure in between; a
    request with another system text or another beginning, such as that of a judge. Not a finding
    for `unread`: an answer that a fault bent, or that came after the agent had gone on; a kill in
    between; several equal requests of which the agent takes one answer.

    A loop asked the model who speaks next, and answered "continue" itself, for three days
    (google-gemini/gemini-cli#2773). A parser that knew one line end waited for the rest of each
    stream (praxis-proxy/praxis#739). To fix it, end the turn with an answer in words, and read
    streams with the provider's SDK. Source: incidents 74, 86, 94 and 184.
    """
    for turn in history.trace.turns.values():
        yield from _same_words(turn, repeats)
        yield from _unread(history.trace, turn)


def _same_words(turn: Turn, repeats: int) -> Iterator[Finding]:
    """The first series of equal answers, and the request that follows it."""
    streak: list[Exchange] = []
    for exchange in turn.main:
        goes_on = bool(streak) and _is_asked_on(turn, streak[-1], exchange)
        if goes_on and len(streak) == repeats:
            text = f"the model says the same {repeats} times without a call, and "
            text += f"{exchange.called.key} asks on"
            events = (*(e.n for e in streak), exchange.n)
            yield Finding("answer_taken.same_words", text, events)
            return
        equal = goes_on and _words(exchange) == _words(streak[-1])
        streak = [*streak, exchange] if equal else [exchange] if _words(exchange) else []


def _is_asked_on(turn: Turn, answered: Exchange, later: Exchange) -> bool:
    """Whether a request only adds to an earlier one, and nothing has come from outside."""
    a, b = answered.request, later.request
    grows = later.node.first(answered.node.depth) is answered.node
    same = grows and later.node is not answered.node and (a.system, a.model) == (b.system, b.model)
    came = (d.n for d in (*turn.came, *turn.joined, *turn.waiting))
    return same and not any(answered.n < n < later.n for n in came)


def _words(exchange: Exchange) -> str:
    """The words of a whole answer without a call; "" for any other."""
    reply = exchange.reply
    if reply is None or not exchange.succeeded or wrong(exchange) or reply.tool_uses:
        return ""
    return reply.text.strip()


def _unread(trace: Trace, turn: Turn) -> Iterator[Finding]:
    """Two equal requests, the first one answered whole, in a turn that fails."""
    first = turn.endings[0] if turn.endings else None
    if first is None or claimed(first) != "failed_truthfully" or turn.store_failed:
        return
    ran = {run.ask.exchange.n for run in turn.executions if run.ask}
    asked = [e for e in turn.main if e.n < first.n]
    for before, again in pairwise(asked):
        is_met = before.ended_ms <= again.called.at_ms and before.n not in ran
        killed = any(before.n < kill < again.n for kill in trace.kills)
        if is_met and not killed and before.whole == again.whole and _is_readable(before):
            text = f"{before.called.key} is answered whole, {again.called.key} asks the same again"
            text += ", and the turn ends with a failure"
            yield Finding("answer_taken.unread", text, (before.n, again.n, first.n))
            return


def _is_readable(exchange: Exchange) -> bool:
    """Whether the answer says or asks for something, and any client can read it."""
    answered, reply = exchange.answered, exchange.reply
    if answered is None or reply is None or not exchange.succeeded:
        return False
    if wrong(exchange) and not calls_tools(exchange):
        return False
    says = bool(reply.text.strip()) or any(_is_usable(use) for use in reply.tool_uses)
    return says and _OTHER_BYTES.issuperset(answered.faults)


def _is_usable(use: ToolUse) -> bool:
    return bool(use.id) and isinstance(use.input, dict)
