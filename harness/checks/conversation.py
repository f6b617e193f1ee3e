"""The conversation in the requests only grows, unless a compaction or an overflow shortens it.

Amnesia is silent: roles still alternate, and every request is valid.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from harness.checks.declarations import excused_by, needs
from harness.checks.evidence.carried_words import words_of
from harness.checks.evidence.excuses import (
    BREAK_BETWEEN,
    EARLIER_COMPACTION,
    EARLIER_KILL,
    EARLIER_OVERFLOW,
    FAILED_STORE,
    KILL,
    REWRITTEN_STORE,
    Case,
)
from harness.checks.evidence.stored_messages import (
    same_text,
    says,
    settled_list,
    squeeze,
    stands,
    written_by_another,
)
from harness.checks.evidence.turn_outcomes import claimed, ending_calls, is_uncounted
from harness.core.history.events import Effected
from harness.core.history.exchanges import Ask, Exchange, Execution, Node
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import Text, canonical
from harness.core.values.verdict import Finding

_SHORTER = (EARLIER_COMPACTION, EARLIER_KILL, EARLIER_OVERFLOW)
"""After these the requests of a session may hold less."""

BEGINNING = 20
"""So many characters of an answer stand in its result, even if an agent cuts it short."""


@needs("model", "inbox", "outbox", told_by="run")
@excused_by(
    forgotten_reply=(FAILED_STORE, *_SHORTER),
    result=_SHORTER,
    forgotten_past=(KILL,),
    forgotten_effect=(FAILED_STORE, REWRITTEN_STORE, EARLIER_COMPACTION, EARLIER_OVERFLOW),
)
def history_faithful(history: History) -> Iterator[Finding | Case]:
    """A turn's requests hold the reply of the turn before and the results of the calls that ran.

    `forgotten_reply`: the first main request of a turn lacks what the user was last told.
    `forgotten_result`: a main request lacks the result of a call that ran before it in the turn.
    The same holds for a result that the request before it had, when that one's connection broke.
    `swapped_result`: a call's result does not begin as its tool answered, and holds what another
    call of the turn was answered. After a compaction, a request over the window or a kill nothing
    of this is asked in that session.

    `forgotten_past`: after a turn whose compactions brought no summary, the next one begins without
    anything that the agent said before. Not even the beginning or the end of an answer is left.
    `forgotten_effect`: a call changed the outside world, and the agent was killed in that turn. The
    session's next main request then holds nothing that the request before the call did not hold.
    Not a finding there: an effect that bears an idempotency key; a turn that the user is told to
    have failed; a note of the agent's own about the interruption. Two documents were made again,
    for the resumed history lacked them (odysseus-dev/odysseus#3570). Source: invariant 9.
    """
    trace = history.trace
    last: dict[str, Turn] = {}
    for turn in trace.turns.values():
        if turn.delivery is None or turn.redelivery:
            continue
        before = last.get(turn.session)
        if turn.readable and before is not None:
            yield Case("forgotten_reply", _reply(trace, before, turn), before, turn.readable[0].n)
        if turn.readable and before is not None and before.readable and trace.compactions:
            yield Case("forgotten_past", _past(history, before, turn), turn)
        yield from _results(turn)
        yield from _begun_anew(turn)
        last[turn.session] = turn
    yield from _effects(trace)


def _reply(trace: Trace, before: Turn, turn: Turn) -> Iterator[Finding]:
    told = [s for s in before.endings if s.request.kind == "final" and s.request.text.strip()]
    if not told or claimed(told[-1]) != "completed":
        return
    first = turn.readable[0]
    said = told[-1].request.text
    if not says(first.node, said) and not _holds_end(trace, before, first, said):
        text = f"{first.called.key}: the reply of turn {before.number} of {turn.session} is missing"
        yield Finding("history_faithful.forgotten_reply", text, (told[-1].n, first.n))


def _holds_end(trace: Trace, before: Turn, first: Exchange, said: str) -> bool:
    """Whether a request holds the call by which the turn before ended, or its result."""
    if not before.main or not (calls := ending_calls(trace, before, before.main[-1])):
        return False
    ended = {(use.name, canonical(use.input)) for use in calls}
    messages = [node.message for node in first.node.tail()]
    texts = (result.text for message in messages for result in message.tool_results)
    held = ((use.name, canonical(use.input)) for m in messages for use in m.tool_uses)
    return any(call in ended for call in held) or any(same_text(text, said) for text in texts)


def _past(history: History, before: Turn, turn: Turn) -> Iterator[Finding]:
    failed = [c for c in history.trace.compactions if c.turn is before]
    if not failed or not all(c.failed for c in failed):
        return
    first, now = before.readable[0], turn.readable[0]
    said_before = (m for m in first.node.messages if m.role == "assistant")
    past = [squeeze(b.text) for m in said_before for b in m.blocks if isinstance(b, Text)]
    system = str(history.values.get(now.request.system, ""))
    words = "".join([squeeze(system), *words_of(now.node)])
    if any(past) and not any(_is_carried(text, words) for text in past):
        text = f"{now.called.key}: a compaction failed in the turn before, and what was "
        text += "said before that is gone"
        events = (first.n, failed[0].n, now.n)
        yield Finding("history_faithful.forgotten_past", text, events)


def _is_carried(said: str, words: str) -> bool:
    """Whether an answer stands in the words of a request; a long one may be cut short."""
    return bool(said) and (said[:BEGINNING] in words or said[-BEGINNING:] in words)


def _results(turn: Turn) -> Iterator[Case]:
    main = turn.readable
    for ask in turn.asks:
        run = ask.execution
        if run is None or run.answered is None:
            continue
        ended_n = run.answered.n
        later = next((e for e in main if e.n > ended_n), None)
        if later is None:
            continue
        if ask.sent is None or ask.sent_n > later.n:
            text = f"{later.called.key}: the result of {run.called.key} is missing"
            finding = Finding("history_faithful.forgotten_result", text, (run.n, later.n))
            yield Case("result", [finding], turn, later.n)
        elif other := _swapped_with(turn, ask, run):
            text = f"{later.called.key}: {run.called.key} is given the result of {other.called.key}"
            events = (run.n, other.n, ask.sent_n)
            finding = Finding("history_faithful.swapped_result", text, events)
            yield Case("result", [finding], turn, later.n)


def _begun_anew(turn: Turn) -> Iterator[Case]:
    """Results that a request had whose connection broke, and that the next one lacks: how far the
    turn had come is forgotten."""
    for before, later in pairwise(turn.readable):
        if not before.is_unreadable or later.node.first(before.node.depth) is before.node:
            continue
        held = {r.id: squeeze(r.text) for m in later.node.messages for r in m.tool_results}
        for ask in turn.asks:
            run, sent = ask.execution, ask.sent
            if run is None or sent is None or ask.sent_n > before.n:
                continue
            if sent.id not in held and squeeze(sent.text) not in held.values():
                text = f"{later.called.key}: the result of {run.called.key} is missing, which "
                text += f"{before.called.key} had"
                events = (run.n, before.n, later.n)
                finding = Finding("history_faithful.forgotten_result", text, events)
                yield Case("result", [finding], turn, later.n)


def _effects(trace: Trace) -> Iterator[Case]:
    """Calls with an effect in interrupted turns, against the next request of the session."""
    changed = {e.key: e for e in trace.events if isinstance(e, Effected) and not e.idempotency_key}
    reported: set[int] = set()
    for run in trace.executions if trace.kills else ():
        turn = trace.turns[run.called.session, run.called.turn]
        effect, place = changed.get(run.called.key), bisect(trace.kills, run.n)
        if effect is None or run.ask is None or not turn.interrupted_n or place == len(trace.kills):
            continue
        next_ = _next_main(trace, run.called.session, trace.kills[place])
        if next_ is None or next_.n in reported or _says_failed(turn, trace.kills[place], next_.n):
            continue
        if not _holds_more(trace, run.ask.exchange, next_):
            reported.add(next_.n)
            text = f"{next_.called.key}: after the kill nothing tells of {run.called.key}, which "
            text += f"has changed the outside world ({effect.name})"
            finding = Finding("history_faithful.forgotten_effect", text, (effect.n, next_.n))
            yield Case("forgotten_effect", [finding], turn, next_.n)


def _next_main(trace: Trace, session: str, n: int) -> Exchange | None:
    main = (e for e in trace.exchanges if e.purpose == "main" and e.called.session == session)
    later = next((e for e in main if e.n > n), None)
    return None if later is None or later.request.unread or later.request.stateful else later


def _says_failed(turn: Turn, killed_n: int, n: int) -> bool:
    """Whether the user is told between two events that a turn did not succeed."""
    said = (s for s in turn.endings if killed_n < s.n < n)
    return any(claimed(sending) != "completed" for sending in said)


def _holds_more(trace: Trace, before: Exchange, after: Exchange) -> bool:
    """Whether a request says more than an earlier one, the messages of users set aside."""
    more = Counter(words_of(after.node)) - Counter(words_of(before.node))
    users = [squeeze(d.inbound.text) for d in trace.deliveries if d.n < after.n]
    for said in sorted(filter(None, users), key=len, reverse=True):
        more = Counter({word.replace(said, ""): 1 for word in more})
    return any(more)


def _swapped_with(turn: Turn, ask: Ask, run: Execution) -> Execution | None:
    """The other execution whose answer was sent as the result of a call.

    What is sent begins with that answer and is an error as it was: an agent's own words, as of an
    answer that came too late, may hold a short answer by chance.
    """
    own, sent = squeeze(run.text), squeeze(ask.sent.text if ask.sent else "")
    if ask.sent is None or not own or own[:BEGINNING] in sent:
        return None
    for other in turn.executions:
        if other is run or not other.answered or other.n >= ask.sent_n:
            continue
        said = squeeze(other.text)
        if said and other.failed == ask.sent.is_error and sent.startswith(said):
            return other
    return None


@needs("model", "inbox", told_by="run")
@excused_by(prefix=(BREAK_BETWEEN,))
def append_only_prefix(history: History) -> Iterator[Finding | Case]:
    """A session's main requests begin alike: each adds to the end of the one before.

    `messages`: the next one does not begin with what stood before the newest message of a request.
    Only that newest message may still grow (a pause, a hint that is said once). `system`: the
    system text is another one. `tools`: the same tools stand in another order. Every such change
    makes the provider read the conversation again, and breaks signed thinking.

    A compaction excuses a change. So does, between the two requests, a request that failed for
    good, a start of the agent or a row of another process. A turn may go back to what the one
    before held since its last compaction, when a request of that one failed for good. It may go
    back to what stood before that turn, when that turn brought no success. Not a finding: a tool
    that comes, goes or is described in other words; a request that cannot be read. Source:
    invariant 8.
    """
    trace = history.trace
    others = written_by_another(trace)
    last: dict[str, Exchange] = {}
    for exchange in trace.exchanges:
        if exchange.purpose != "main" or exchange.request.unread:
            continue
        before = last.get(exchange.called.session)
        last[exchange.called.session] = exchange
        if before is None or _begins_alike(trace, before, exchange):
            continue
        # Rows of others count from where this request read them, which is this check's own rule.
        if any(_reloaded_since(trace, before, exchange) < n < exchange.n for n in others):
            continue
        turn = trace.turns[exchange.called.session, exchange.called.turn]
        found = _differences(trace, before, exchange)
        yield Case("prefix", found, turn, exchange.n, before.n)


def _reloaded_since(trace: Trace, before: Exchange, exchange: Exchange) -> int:
    """The event from which on rows of others come into view with this request: a new turn begins
    with what is stored, and shows what was added to it since the one before began."""
    called = before.called
    turn = trace.turns.get((called.session, called.turn))
    same = called.turn == exchange.called.turn
    return before.n if same or turn is None else turn.begun_n or turn.opened_n


def _is_gone_on_from(exchange: Exchange) -> bool:
    """Whether the next request goes on from here: not after "too long", in whatever shape.

    An error event in a stream has status 200 and no type in the history, so it may be one.
    """
    if exchange.succeeded:
        return exchange.stop != "model_context_window_exceeded" and not is_uncounted(exchange)
    return exchange.transient and exchange.status != 200


def _goes_back(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    """Whether a turn begins with the stored history again, after one that got by with a part.

    What is stored is what a request of that turn held, since its last compaction that helped.
    """
    called, now = before.called, exchange.called
    turn = trace.turns.get((called.session, called.turn))
    if turn is None or called.turn == now.turn or all(map(_is_gone_on_from, turn.main)):
        return False
    helped = max((c.n for c in trace.compactions if c.turn is turn and not c.failed), default=0)
    held = (e.node for e in turn.main if e.n > helped)
    return any(stands(settled_list(node), exchange.node) for node in held)


def _leaves_out_a_failure(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    """Whether a later turn begins with what stood before the one of `before`, which had no success
    to tell: an agent may keep the messages of such a turn, or leave all of them out."""
    called, now = before.called, exchange.called
    turn = trace.turns.get((called.session, called.turn))
    if turn is None or called.turn == now.turn or not turn.readable:
        return False
    if any(claimed(ending) == "completed" for ending in turn.endings):
        return False
    return stands(settled_list(turn.readable[0].node), exchange.node)


def _begins_alike(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    same_system = before.request.system == exchange.request.system
    same_tools = not _is_reordered(trace, before, exchange)
    return same_system and same_tools and stands(settled_list(before.node), exchange.node)


def _is_reordered(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    """Whether the very same tools are offered in another order."""
    old, new = before.request.tools, exchange.request.tools
    if old == new:
        return False
    one, other = list(trace.schemas.get(old, ())), list(trace.schemas.get(new, ()))
    return one != other and sorted(one) == sorted(other)


def _differences(trace: Trace, before: Exchange, exchange: Exchange) -> Iterator[Finding]:
    if not _is_gone_on_from(before) or _goes_back(trace, before, exchange):
        return
    events, both = (before.n, exchange.n), f"{before.called.key} and {exchange.called.key}"
    if before.request.system != exchange.request.system:
        text = f"{both} have different system texts"
        yield Finding("append_only_prefix.system", text, events)
    if _is_reordered(trace, before, exchange):
        text = f"{both} offer the same tools in another order"
        yield Finding("append_only_prefix.tools", text, events)
    settled = settled_list(before.node)
    left_out = _leaves_out_a_failure(trace, before, exchange)
    if not left_out and not stands(settled, exchange.node):
        text = f"{both} begin differently: {_first_difference(settled, exchange.node)}"
        yield Finding("append_only_prefix.messages", text, events)


def _first_difference(settled: Node, now: Node) -> str:
    for old, new in zip(settled.tail(), now.tail(), strict=False):
        if old is not new:
            return f"message {old.depth - 1} ({old.side}) is another one"
    return f"there were {settled.depth} messages before the newest, and {now.depth} are left"
