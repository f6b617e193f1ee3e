"""A conversation that moves to another provider: what its requests carry, and whether it returns.

Each API writes a conversation in its own form, so requests are compared by their words alone. An
agent also asks a second provider for a title or for a check. So only a request counts whose
answer the turn has used: a call of it ran, or the user reads it.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.carried_words import (
    begins_or_ends,
    has_no_memory,
    system_text,
    words_of,
)
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    COMPACTION_BETWEEN,
    KILL_BETWEEN,
    OVERFLOW_BETWEEN,
    Case,
)
from harness.checks.evidence.stored_messages import squeeze
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.carried_text import is_asked, lost_parts
from harness.core.values.messages import side
from harness.core.values.strict import FromOne, Seconds
from harness.core.values.verdict import Cause, Finding

PAST_LEAST = 2
"""The least number of earlier messages of which none may be left."""


@needs("model", "inbox", "outbox", told_by="run", place=145)
@excused_by(carried=(COMPACTION_BETWEEN, KILL_BETWEEN, OVERFLOW_BETWEEN))
def provider_change(
    history: History, *, turns: FromOne = 2, away_s: Seconds = 3600.0
) -> Iterator[Finding | Case]:
    """A conversation that moves to another provider is whole there, and comes back.

    `message`: the request to the other provider lacks the user's message of the turn. `past`: it
    has nothing of what was said before, so the conversation begins again. `system`: it has no
    system text, and the one before had. `stays`: a passing failure moved the session, and `turns`
    turns that begin `away_s` seconds later or more never ask the first provider again. So too for
    two models of one provider. `model`: the other provider is asked for a model of the first one,
    and answers 404.

    Results that are lost on the way are `history_faithful.forgotten_result`, and forms that the
    other API does not take are `valid_request`. Not a finding: a request whose answer is not used,
    such as one for a title; a message in parts; a session that leaves a provider after a refusal
    for good; a model of one name that both have. A compaction, a request over the window or a kill
    between the two explains what is missing. To fix it, keep one list of messages in a neutral
    form. Write each request from it, in the words of the provider asked.
    Source: NousResearch/hermes-agent#24401 and #112121, can1357/oh-my-pi#12006.
    """
    trace = history.trace
    last: dict[str, Exchange] = {}
    for exchange in trace.exchanges:
        request, session = exchange.request, exchange.called.session
        if exchange.purpose != "main" or request.unread or request.stateful:
            continue
        before, last[session] = last.get(session), exchange
        if before is None or before.called.provider == exchange.called.provider:
            continue
        turn = trace.turns[session, exchange.called.turn]
        if _is_used(turn, exchange):
            yield Case(
                "carried", _lost(history, before, turn, exchange), turn, exchange.n, before.n
            )
    for session in last:
        yield from _stays(trace, session, turns, away_s)
    yield from _foreign_names(trace)


def _is_used(turn: Turn, exchange: Exchange) -> bool:
    """Whether the turn goes on with the answer: a call of it ran, or the user reads its words."""
    if exchange.reply is None or not exchange.succeeded:
        return False
    if any(ask.execution for ask in turn.asks if ask.exchange is exchange):
        return True
    said = squeeze(exchange.reply.text)
    return bool(said) and any(said in squeeze(sending.request.text) for sending in turn.endings)


def _lost(history: History, before: Exchange, turn: Turn, exchange: Exchange) -> Iterator[Finding]:
    """Yield what a moved request lacks that the one before had."""
    events, moved = (before.n, exchange.n), f"{exchange.called.key} goes to another provider"
    cause = Cause(subject=exchange.called.provider)
    users = "\n".join(m.text for m in exchange.node.messages if side(m) != "assistant")
    rules, now = (system_text(e, history.values).strip() for e in (before, exchange))
    if rules and not now and lost_parts(rules, users):
        text = f"{moved} and lacks the system text that {before.called.key} had"
        yield Finding("provider_change.system", text, events, cause=cause)
    if turn.delivery and turn.delivery.n < before.n and is_asked(turn.text):
        words = squeeze(users)
        if lost_parts(turn.text, users) and not begins_or_ends(squeeze(turn.text), words):
            text = f"{moved} and lacks the message of {turn.words}"
            yield Finding("provider_change.message", text, events, cause=cause)
            return
    newest = before.node.newest()
    old = [m for m in before.node.messages if side(m) != "system" and m not in newest]
    past = [said for m in old if (said := squeeze(m.text))]
    if before.reply is not None and before.succeeded and before.reply.text.strip():
        past.append(squeeze(before.reply.text))
    words = "".join(words_of(exchange.node))
    is_begun_anew = not any(begins_or_ends(text, words) for text in past)
    if len(past) >= PAST_LEAST and is_begun_anew and not has_no_memory(history.trace, exchange):
        text = f"{moved} and has nothing of what was said before: {before.called.key} had it"
        yield Finding("provider_change.past", text, events, cause=cause)


def _stays(trace: Trace, session: str, most: int, away_s: float) -> Iterator[Finding]:
    """Yield a finding for a session that a passing failure moved, and that never comes back."""
    main = [e for e in trace.exchanges if e.called.session == session and e.purpose == "main"]
    first = main[0].called.provider if main else ""
    own = [e for e in main if e.called.provider == first]
    if len(own) == len(main) and main:  # it moved to another model, if at all
        first = main[0].request.model
        own = [e for e in main if e.request.model == first]
    left = own[-1] if own else None
    if left is None or left is main[-1] or not left.transient:
        return
    came_ms = left.ended_ms + away_s * 1000
    later: dict[int, Exchange] = {}
    for exchange in main:
        if exchange.n > left.n and exchange.called.at_ms >= came_ms:
            later.setdefault(exchange.called.turn, exchange)
    later.pop(left.called.turn, None)
    if len(later) >= most:
        asked = list(later.values())[most - 1]
        text = f"{left.called.key} failed in passing, and {most} turns later, more than "
        text += f"{away_s:.0f} s after it, {first} is still not asked again"
        cause = Cause(subject=first)
        yield Finding("provider_change.stays", text, (left.n, asked.n), cause=cause)


def _foreign_names(trace: Trace) -> Iterator[Finding]:
    """Yield a finding for each name of a model that a provider does not know and another one does.

    A host may serve models of others by their names, so only a refusal tells that it does not.
    """
    known: dict[str, dict[str, Exchange]] = {}
    told: set[tuple[str, str]] = set()
    for exchange in trace.exchanges:
        model, provider = exchange.request.model, exchange.called.provider
        asked = known.setdefault(model, {})
        if exchange.status != 404:
            asked.setdefault(provider, exchange)
        elif asked and provider not in asked and (model, provider) not in told:
            told.add((model, provider))
            before = next(iter(asked.values()))
            text = f"{exchange.called.key} asks {provider} for {model}, which is the model of "
            text += f"{before.called.provider}, and is told that there is none"
            cause = Cause(subject=provider)
            yield Finding("provider_change.model", text, (before.n, exchange.n), cause=cause)
