"""Answers that came whole, and that the agent does not take for an answer.

A provider bills each of them, and the user waits for words that the agent has. What an agent asks
for with a tool is judged in `loops.py`: here the model says that it is done, and the agent asks on,
alone, with other agents, or because its own words come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from harness.checks.evidence.declarations import needs
from harness.checks.evidence.rounds_of_words import Talk, echoes, reads, talks, words_alone
from harness.checks.evidence.tool_steps import are_told_apart
from harness.checks.evidence.turn_outcomes import calls_tools, claimed, wrong
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.plans import Sent, waited_ms
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

_SLOW = "transport.trickle"
"""The fault that sends an answer byte by byte."""

_PACE_MS, _PACE_OF = 35, {"openai-responses": 10}
"""The most milliseconds a byte at which no watch for content can take a stream for a silent one:
its largest events, of 500 bytes or of 1500, come within 20 seconds."""


@needs("model", told_by="run", place=235)
def answer_taken(history: History, *, repeats: int = 3) -> Iterator[Finding]:
    """What the model answers whole is the answer: it is read, and ends the turn.

    `same_words`: in one turn the model says the same words `repeats` times, without a call, and is
    asked again. `unread`: a request that was answered whole is sent again unchanged, and the turn
    ends with a failure. `same_round`: the answers of a turn, of one agent or of several, come in a
    circle of two to five. Each round has the same questions and the same words, `repeats` times,
    and one more answer is asked for. `left`: a slow stream that still brings content is broken off,
    and its request is sent again unchanged. `same_verdict`: another request judges an answer, in
    the same words twice `repeats` times, and nearly the same answer is made again each time.
    `own_words`: in `repeats` turns in a row the message is the agent's last reply, word for word.
    The next such message is put to the model too.

    Not a finding for `same_round` and `same_verdict`: a call of a tool, a message, a kill or a
    pause of five seconds within the series; words that differ in more than ids and times; for
    `same_round`, equal questions of which no answer is handed on.

    Not a finding for `same_words`: other words; a new message, a result or a failure in between; a
    request with another system text or another beginning, such as that of a judge; words that
    another agent of the turn says in between. Not a finding for `unread`: an answer that a fault
    bent, or that came after the agent had gone on; a kill in between; several equal requests of
    which the agent takes one answer.

    A loop asked the model who speaks next, and answered "continue" itself, for three days
    (google-gemini/gemini-cli#2773). A parser that knew one line end waited for the rest of each
    stream (praxis-proxy/praxis#739). To fix it, end the turn with an answer in words, and read
    streams with the provider's SDK. Rounds need a bound. Source: incidents 74, 81, 86, 94 and 184;
    arXiv 2607.01641.
    """
    for turn in history.trace.turns.values():
        yield from _same_words(history.trace, turn, repeats)
        yield from _unread(history.trace, turn)
        yield from _left(history.trace, turn)
    # The shortest circle has two answers: most runs have too few for one.
    is_long = len(history.trace.exchanges) > 2 * repeats
    for talk in talks(history.trace) if is_long else ():
        yield from _same_rounds(talk, repeats)
        yield from _same_verdicts(talk, 2 * repeats)
    yield from _own_words(history.trace, repeats)


def _same_rounds(talk: Talk, repeats: int) -> Iterator[Finding]:
    """Each circle of answers that goes on after `repeats` rounds."""
    for found in talk.rounds(repeats):
        period = len(found) // repeats
        several = len({e.called.session for e in found}) > 1
        who = "agents answer each other" if several else "the steps of a turn come back"
        said = ", ".join(repr(words_alone(e)[:40]) for e in found[:period])
        text = f"{who} in the same words, {repeats} rounds and on: {said}"
        yield Finding("answer_taken.same_round", text, tuple(e.n for e in found))


def _same_verdicts(talk: Talk, most: int) -> Iterator[Finding]:
    """Each series of equal verdicts, after which nearly the same answer is made again."""
    for found in talk.verdicts(most):
        said = repr(words_alone(found[0])[:80])
        text = f"an answer is judged {most} times in the same words and made again: {said}"
        yield Finding("answer_taken.same_verdict", text, tuple(e.n for e in found))


def _own_words(trace: Trace, repeats: int) -> Iterator[Finding]:
    """Each series of the agent's own replies that come back, and are answered as messages."""
    for streak in echoes(trace) if len(trace.turns) > repeats else ():
        asked = [turn.main[0] for turn in streak if turn.main]
        if len(asked) > repeats:
            text = f"the agent's own reply comes back as a message {repeats} times, and "
            text += f"{asked[repeats].called.key} answers it again"
            yield Finding("answer_taken.own_words", text, tuple(e.n for e in asked[: repeats + 1]))


def _same_words(trace: Trace, turn: Turn, repeats: int) -> Iterator[Finding]:
    """The first series of equal answers, and the request that follows it."""
    streak: list[Exchange] = []
    for exchange in turn.main:
        goes_on = bool(streak) and _is_asked_on(turn, streak[-1], exchange)
        last = streak[-repeats:]
        if goes_on and len(last) == repeats and not _are_told(trace, [*last, exchange]):
            text = f"the model says the same {repeats} times without a call, and "
            text += f"{exchange.called.key} asks on"
            events = (*(e.n for e in last), exchange.n)
            yield Finding("answer_taken.same_words", text, events)
            return
        equal = goes_on and words_alone(exchange) == words_alone(streak[-1])
        streak = [*last, exchange] if equal else [exchange] if words_alone(exchange) else []


def _are_told(trace: Trace, asked: Sequence[Exchange]) -> bool:
    """Whether each request after the first holds what another agent has said meanwhile."""
    lane = (asked[0].called.session, asked[0].purpose)
    since = [e for e in trace.exchanges if asked[0].n < e.n < asked[-1].n]
    others = [e for e in since if (e.called.session, e.purpose) != lane]
    return all(
        any(before.n < e.n < later.n and words_alone(e) and reads(later, e) for e in others)
        for before, later in pairwise(asked)
    )


def _is_asked_on(turn: Turn, answered: Exchange, later: Exchange) -> bool:
    """Whether a request only adds to an earlier one, and nothing has come from outside."""
    a, b = answered.request, later.request
    grows = later.node.first(answered.node.depth) is answered.node
    same = grows and later.node is not answered.node and (a.system, a.model) == (b.system, b.model)
    came = (d.n for d in (*turn.came, *turn.joined, *turn.waiting))
    return same and not any(answered.n < n < later.n for n in came)


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


def _left(trace: Trace, turn: Turn) -> Iterator[Finding]:
    """The first request that is sent again while its answer still comes, in small steps."""
    stops = [d.n for d in (*turn.came, *turn.joined, *turn.waiting)] + [*trace.kills]
    for before, again in pairwise(turn.main):
        spent_ms = again.called.at_ms - before.called.at_ms
        is_left = _is_alive(before) and before.ended_ms > again.called.at_ms
        is_free = not any(before.n < n < again.n for n in stops)
        if is_left and is_free and before.whole == again.whole:
            text = f"the answer to {before.called.key} is broken off after {spent_ms // 1000} s,"
            text += f" while its content still comes, and {again.called.key} asks the same again"
            yield Finding("answer_taken.left", text, (before.n, again.n))
            return


def _is_alive(exchange: Exchange) -> bool:
    """Whether an answer comes slowly, and never stops: any client reads it to its end."""
    answered = exchange.answered
    if answered is None or not answered.complete or _SLOW not in answered.faults:
        return False
    size = sum(step.size_bytes for step in answered.steps if isinstance(step, Sent))
    wait_ms = waited_ms(answered.steps)
    others = set(answered.faults) - {_SLOW}
    pace_ms = _PACE_OF.get(exchange.called.provider, _PACE_MS)
    return exchange.request.stream and wait_ms <= pace_ms * size and others <= _OTHER_BYTES


def _is_readable(exchange: Exchange) -> bool:
    """Whether the answer says or asks for something, and any client can read it."""
    answered, reply = exchange.answered, exchange.reply
    if answered is None or reply is None or not exchange.succeeded:
        return False
    if wrong(exchange) and not calls_tools(exchange):
        return False
    says = bool(reply.text.strip()) or any(isinstance(use.input, dict) for use in reply.tool_uses)
    return says and are_told_apart(exchange) and _OTHER_BYTES.issuperset(answered.faults)
