"""The requests hold what was said and done before, unless something has shortened it.

Lost history is silent: roles still alternate, and every request is valid.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from harness.checks.evidence.carried_words import (
    begins_or_ends,
    changed_to,
    has_no_memory,
    holds_more,
    is_changed,
    is_cut_with_notice,
    past_of_failed,
    shared,
    thrown_away,
    words_of,
)
from harness.checks.evidence.cut_results import is_announced
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    COMPACTION_BETWEEN,
    FAILED_STORE,
    KILL,
    KILL_BETWEEN,
    OVERFLOW_BETWEEN,
    REWRITTEN_STORE,
    Case,
)
from harness.checks.evidence.misplaced_results import swapped_with
from harness.checks.evidence.shown_text import spoken
from harness.checks.evidence.stored_messages import is_renamed, same_text, says, squeeze
from harness.checks.evidence.told_results import reads_as_failure
from harness.checks.evidence.turn_outcomes import claimed, ending_calls, is_local
from harness.core.history.events import Effected
from harness.core.history.exchanges import Exchange, Execution
from harness.core.history.history import History
from harness.core.history.trace import Delivery, Trace, Turn
from harness.core.values.carried_text import is_asked, lost_parts
from harness.core.values.messages import canonical
from harness.core.values.verdict import Finding

_SHORTER = (COMPACTION_BETWEEN, KILL_BETWEEN, OVERFLOW_BETWEEN)
"""After these a request may lack what came before them. What came later must be there."""

_SHORT = 0.9
"""A text below this share of a reply is a part of it, and not the same without its marks."""

_BEGINNING = 12
"""Two replies that have this number of first characters in common are one that was changed."""

_Came = defaultdict[tuple[str, str], list[Delivery]]
"""The deliveries by session and words, listed once: a search for each turn is quadratic."""


@needs("model", "inbox", "outbox", told_by="run", place=140)
@excused_by(
    forgotten_reply=(FAILED_STORE, *_SHORTER),
    forgotten_message=(FAILED_STORE, *_SHORTER),
    result=_SHORTER,
    forgotten_past=(KILL,),
    dropped=(COMPACTION_BETWEEN, KILL_BETWEEN),
    forgotten_effect=(FAILED_STORE, REWRITTEN_STORE, COMPACTION_BETWEEN, OVERFLOW_BETWEEN),
)
def history_faithful(history: History) -> Iterator[Finding | Case]:
    """A turn's requests hold the reply of the turn before and the results of the calls that ran.

    `forgotten_reply`: the first main request of a turn lacks the last reply to the user;
    `cut_reply`: it holds a part of that reply alone. `forgotten_message`: the message that this
    reply answered.
    `forgotten_result`: a main request lacks the result of a call that ran before it in the turn.
    The same holds for a result of the request before it, if that request failed in passing.
    `swapped_result`: a call's result does not begin with its tool's answer, and holds the answer to
    another call of the turn. `kept_result`: the first request tells a stored result as a failure.
    `forgotten_words`: the request after an answer has its calls and not
    the words beside them. A compaction, a request over the window or a kill between the two
    explains what is missing. It explains no loss of what was said after it. A function of a text
    that is told no session need not remember; it is asked once a request shows that it does.

    `forgotten_past`: after a turn whose compactions made no summary, the next turn begins without
    beginning or end of any earlier answer. What told the user about a failed turn is none. Not a
    finding: a turn whose last request was refused for its size, or one without a past, because then
    no past may fit; a note to the model that says what is left out. It is also a request after a
    refused one that has nothing of what was said before its turn, unless the user is told. After a
    refusal for its size, half of the size had room for the last of it, and no new words stand in
    its place.
    `forgotten_effect`: a call changed the outside world, and the agent was killed in that turn. The
    session's next main request has nothing new compared with the request before the call. Not a
    finding for `forgotten_effect`: an effect with an idempotency key, unless it happens again under
    another key; a turn that is reported to the user as failed; a note of the agent about the
    interruption. Source: invariant 9;
    odysseus-dev/odysseus#3570.
    """
    trace = history.trace
    came: _Came = defaultdict(list)
    for delivery in trace.deliveries:
        came[delivery.inbound.session, squeeze(delivery.inbound.text)].append(delivery)
    last: dict[str, Turn] = {}
    replied: dict[str, Turn] = {}
    for turn in trace.turns.values():
        if turn.delivery is None or turn.redelivery or is_local(turn):
            continue
        before = last.get(turn.session)
        answered = replied.get(turn.session)
        if turn.readable and answered is not None and _is_kept(answered, before, turn):
            said_n = max((ending.n for ending in answered.endings), default=answered.opened_n)
            # A summary that is made before the reply goes out may hold the model's answer.
            said_n = min(said_n, answered.main[-1].n) if answered.main else said_n
            found = _reply(trace, answered, turn)
            yield Case("forgotten_reply", found, answered, turn.readable[0].n, said_n)
            found = _message(came, trace, answered, turn)
            yield Case("forgotten_message", found, answered, turn.readable[0].n, said_n)
        if turn.readable and before is not None and before.readable and trace.compactions:
            yield Case(
                "forgotten_past", past_of_failed(history, before, turn), turn, turn.readable[0].n
            )
        if turn.readable and before is None:
            yield Case("result", _kept_result(trace, turn.readable[0]), turn, turn.readable[0].n)
        yield from _words_beside_calls(trace, turn)
        yield from _results(turn)
        yield from _begun_anew(turn)
        if not all(exchange.succeeded for exchange in turn.readable):
            yield from thrown_away(turn)
        last[turn.session] = turn
        # A cancel or a failure may cost its own turn, and nothing before it.
        if not turn.cancelled_n and not _has_failed(turn):
            replied[turn.session] = turn
    yield from _effects(trace)


def _has_failed(turn: Turn) -> bool:
    """Whether the user was told that a turn failed."""
    return bool(turn.endings) and claimed(turn.endings[-1]) == "failed_truthfully"


def _is_kept(answered: Turn, before: Turn | None, turn: Turn) -> bool:
    """Whether a request has to hold a reply. After a failed turn an agent may begin again, so the
    message that the reply answered has to be there."""
    if before is answered or before is None or not _has_failed(before):
        return True
    said, node = squeeze(answered.text), turn.readable[0].node
    held = (squeeze(n.message.text) for n in node.back() if n.side == "user")
    return is_asked(answered.text) and any(said in text for text in held)


def _reply(trace: Trace, before: Turn, turn: Turn) -> Iterator[Finding]:
    told = [s for s in before.endings if s.request.kind == "final" and s.request.text.strip()]
    first = turn.readable[0]
    if not told or claimed(told[-1]) != "completed" or has_no_memory(trace, first):
        return
    said = told[-1].request.text
    # The reply may be the answer in another format; then the history keeps the answer itself.
    answer = before.main[-1].reply if before.main else None
    if says(first.node, said) or (answer is not None and says(first.node, answer.text)):
        yield from _cut_reply(trace, before, first, said)
        return
    if not _is_shortened(trace, turn, first, said) and not _holds_end(trace, before, first, said):
        text = f"{first.called.key}: the reply of turn {before.number} of {turn.session} "
        text += _changed(before, first, said) or "is missing"
        text += _summary_between(trace, before, first) or _moved(before, first)
        yield Finding("history_faithful.forgotten_reply", text, (told[-1].n, first.n))


def _cut_reply(trace: Trace, before: Turn, first: Exchange, said: str) -> Iterator[Finding]:
    """Yield a reply of which the request holds one piece. An answer that was continued, or words
    between calls, stand in several messages."""
    if not before.main:  # a stored reply may come again, behind a note
        return
    answer = "\n".join(spoken(trace, before.main[-1]))
    wholes = [squeeze(text) for text in (said, answer) if text.strip()]
    texts = []  # from the end: most lists hold it there, and a session may be long
    for text in (n.message.text for n in first.node.back() if n.side == "assistant"):
        texts.append(text)
        if any(whole in squeeze(text) for whole in wholes):
            return
    if any(whole in squeeze("".join(reversed(texts))) for whole in wholes):
        return
    piece = max((text for text in texts if squeeze(text) in wholes[-1]), key=len, default="")
    if is_asked(answer) and piece.strip() and len(piece) < len(answer) * _SHORT:
        text = f"{first.called.key}: the reply of turn {before.number} of {before.session} "
        text += changed_to(answer, piece)
        yield Finding("history_faithful.cut_reply", text, (before.opened_n, first.n))


def _changed(before: Turn, first: Exchange, said: str) -> str:
    """How a reply stands where it belongs, behind the last request of its turn; "" if it does not
    stand there."""
    new = first.node.tail(before.main[-1].node) if before.main else ()
    held = next((n.message.text for n in new if n.side == "assistant"), "")
    begins = shared(said, held) >= _BEGINNING
    return changed_to(said, held) if begins or (held.strip() and is_changed(said, held)) else ""


def _message(came: _Came, trace: Trace, before: Turn, turn: Turn) -> Iterator[Finding]:
    """A message may come twice in equal words, as "yes" does, and each time it is one."""
    said, first = squeeze(before.text), turn.readable[0]
    ended = [s for s in before.endings if claimed(s) == "completed"]
    if not (ended and before.readable and is_asked(before.text)) or has_no_memory(trace, first):
        return
    held = before.readable[-1]
    if first.node.first(held.node.depth) is held.node:  # most lists only grow: nothing to count
        return
    now = [squeeze(message.text) for message in first.node.messages]
    wanted = min(
        len({d.inbound.id for d in came[turn.session, said] if d.n <= before.opened_n}),
        sum(squeeze(message.text).count(said) for message in held.node.messages),
    )
    found = sum(text.count(said) for text in now) - squeeze(turn.text).count(said)
    if found < wanted and not any(is_cut_with_notice(said, text) for text in now):
        text = f"{first.called.key}: the message of turn {before.number} of {turn.session} is "
        text += f"missing, which {held.called.key} had"
        text += _summary_between(trace, before, first) or _moved(before, first)
        yield Finding("history_faithful.forgotten_message", text, (held.n, first.n))


def _summary_between(trace: Trace, before: Turn, first: Exchange) -> str:
    """The compaction since a turn began, of this session or of another one, that may have taken
    what is missing."""
    made = (c.turn for c in trace.compactions if before.opened_n < c.n < first.n)
    return next((f", after a summary of {turn.session} in {turn.words}" for turn in made), "")


def _moved(before: Turn, first: Exchange) -> str:
    """The request of the turn before that went to another provider, in words."""
    others = (e for e in before.main if e.called.provider != first.called.provider)
    moved = next(others, None)
    return f": it goes to another provider than {moved.called.key}" if moved else ""


def _is_shortened(trace: Trace, turn: Turn, first: Exchange, said: str) -> bool:
    """Whether a request holds a reply with a notice in place of its middle. After a compaction the
    past may also stand as a transcript in a message of the user."""
    said = squeeze(said)
    if any(is_cut_with_notice(said, squeeze(message.text)) for message in first.node.messages):
        return True
    is_compacted = any(c.turn.session == turn.session for c in trace.compactions)
    return is_compacted and begins_or_ends(said, "".join(words_of(first.node)))


def _holds_end(trace: Trace, before: Turn, first: Exchange, said: str) -> bool:
    """Whether a request holds the call that ended the turn before, or its result."""
    if not before.main or not (calls := ending_calls(trace, before, before.main[-1])):
        return False
    ended = {(use.name, canonical(use.input)) for use in calls}
    messages = [node.message for node in first.node.tail()]
    texts = (result.text for message in messages for result in message.tool_results)
    held = ((use.name, canonical(use.input)) for m in messages for use in m.tool_uses)
    return any(call in ended for call in held) or any(same_text(text, said) for text in texts)


def _words_beside_calls(trace: Trace, turn: Turn) -> Iterator[Case]:
    """Yield a case for each answer with words and calls of which the next request has the calls
    alone. The content of a Chat message with calls may be null, so some agents never keep it."""
    for exchange, later in pairwise(turn.readable):
        reply = exchange.reply
        if reply is None or not exchange.succeeded or not reply.tool_uses:
            continue
        said = "\n".join(spoken(trace, exchange))
        new = [node.message for node in later.node.tail(exchange.node)]
        held = {use.id for message in new for use in message.tool_uses}
        if not held.intersection(use.id for use in reply.tool_uses) or not is_asked(said):
            continue
        sent = "\n".join(m.text for m in new if m.role == "assistant")
        is_cut = is_announced(said, sent) and begins_or_ends(squeeze(said), squeeze(sent))
        if lost_parts(said, sent) and not is_cut:
            text = f"{later.called.key}: the words beside the calls of {exchange.called.key} "
            text += "are lost"
            finding = Finding("history_faithful.forgotten_words", text, (exchange.n, later.n))
            yield Case("result", [finding], turn, later.n, exchange.n)


def _results(turn: Turn) -> Iterator[Case]:
    main = turn.readable
    for ask in turn.asks:
        run = ask.execution
        if run is None or run.answered is None:
            continue
        ended_n = run.answered.n
        if (later := next((e for e in main if e.n > ended_n), None)) is None:
            continue
        if (ask.sent is None or ask.sent_n > later.n) and not is_renamed(turn, ask, later):
            text = f"{later.called.key}: the result of {run.called.key} is missing"
            finding = Finding("history_faithful.forgotten_result", text, (run.n, later.n))
            yield Case("result", [finding], turn, later.n, ask.exchange.n)
        elif other := swapped_with(turn, ask, run):
            text = f"{later.called.key}: {run.called.key} is given the result of {other.called.key}"
            events = (run.n, other.n, ask.sent_n)
            finding = Finding("history_faithful.swapped_result", text, events)
            yield Case("result", [finding], turn, later.n, ask.exchange.n)


def _kept_result(trace: Trace, first: Exchange) -> Iterator[Finding]:
    """Yield a result of the last calls that the session held at the start, and that its first
    request tells in other words: a repair that looks at the next row alone makes one up."""
    looks = takewhile(lambda look: look.n < first.n, trace.stored)
    rows = [
        row for look in looks for row in look.added if row.session in ("", first.called.session)
    ]
    kept = [m for row in rows if (m := trace.messages.get(row.digest))]
    at = max((n for n, m in enumerate(kept) if m.tool_uses), default=len(kept))
    # Behind a later answer a result is too late for the API.
    behind = takewhile(lambda m: m.role != "assistant", kept[at + 1 :])
    ids = {use.id for m in kept[at : at + 1] for use in m.tool_uses}
    answers = [r for m in behind for r in m.tool_results]
    held = {r.id: r.text for r in answers if not r.is_error}
    times = Counter(r.id for r in answers)  # of two for one call either may be kept
    for sent in (r for m in first.node.messages for r in m.tool_results if r.id in ids):
        said = held.get(sent.id, "")
        is_failed = sent.is_error or reads_as_failure(sent.text)
        is_lost = is_asked(said) and "whole" in lost_parts(said, sent.text)
        if not (is_failed and is_lost) or times[sent.id] > 1:
            continue
        if not any(squeeze(said) in squeeze(text) for text in first.texts):
            text = f"{first.called.key}: the session holds the result {sent.id}, {said[:40]!r}, "
            text += f"and the model reads {sent.text[:60]!r} in its place"
            yield Finding("history_faithful.kept_result", text, (first.n,))
            return


def _begun_anew(turn: Turn) -> Iterator[Case]:
    """Yield a case for each result that a request had which failed in passing, and the next request
    lacks."""
    for before, later in pairwise(turn.readable):
        # An error event in a stream with status 200 may mean that the request was too long.
        passing = before.transient and before.status != 200 and not before.too_large
        failed = before.is_unreadable or passing
        if not failed or later.node.first(before.node.depth) is before.node:
            continue
        held = {r.id: squeeze(r.text) for m in later.node.messages for r in m.tool_results}
        for ask in turn.asks:
            run, sent = ask.execution, ask.sent
            if run is None or sent is None or ask.sent_n > before.n:
                continue
            said = squeeze(sent.text)
            # Another provider's API may have no mark for a failure, so the text says it.
            is_held = sent.id in held or any(said in text for text in held.values())
            if not is_held:
                text = f"{later.called.key}: the result of {run.called.key} is missing, which "
                text += f"{before.called.key} had"
                events = (run.n, before.n, later.n)
                finding = Finding("history_faithful.forgotten_result", text, events)
                yield Case("result", [finding], turn, later.n, before.n)


def _effects(trace: Trace) -> Iterator[Case]:
    """Compare each call with an effect in an interrupted turn with the session's next request."""
    effects = [event for event in trace.events if isinstance(event, Effected)]
    changed = {effect.key: effect for effect in effects}
    reported: set[int] = set()
    for run in trace.executions if trace.kills else ():
        turn = trace.turns[run.called.session, run.called.turn]
        effect, place = changed.get(run.called.key), bisect(trace.kills, run.n)
        if effect is None or run.ask is None or not turn.interrupted_n or place == len(trace.kills):
            continue
        next_ = _next_main(trace, run.called.session, trace.kills[place])
        if next_ is None or next_.n in reported or _says_failed(turn, trace.kills[place], next_.n):
            continue
        if effect.idempotency_key and not _has_another_key(effect, effects):
            continue
        if not holds_more(trace, run.ask.exchange, next_):
            reported.add(next_.n)
            text = f"{next_.called.key}: after the kill nothing mentions {run.called.key}, which "
            text += f"has changed the outside world ({effect.name}){_unstored(trace, turn, run)}"
            finding = Finding("history_faithful.forgotten_effect", text, (effect.n, next_.n))
            yield Case("forgotten_effect", [finding], turn, next_.n, effect.n)


def _unstored(trace: Trace, turn: Turn, run: Execution) -> str:
    """Whether the store held no row with a call when a kill came after its effect, in words."""
    rows = trace.rows_added(turn) if "store" in trace.seams and run.ask else ()
    held = {use.id for look, _, m in rows for use in m.tool_uses if look.n < turn.interrupted_n}
    is_there = not trace.stored or (run.ask and run.ask.use.id in held)
    return "" if is_there else ": no row of the store held the call"


def _has_another_key(first: Effected, effects: Sequence[Effected]) -> bool:
    """Whether an effect with a key happens again under another key, as with keys that each process
    chooses for itself. The outside world then takes the two for different ones."""
    later = (e for e in effects if e.n > first.n and e.name == first.name)
    return any(e.idempotency_key != first.idempotency_key for e in later)


def _next_main(trace: Trace, session: str, n: int) -> Exchange | None:
    main = (e for e in trace.exchanges if e.purpose == "main" and e.called.session == session)
    later = next((e for e in main if e.n > n), None)
    return None if later is None or later.request.unread or later.request.stateful else later


def _says_failed(turn: Turn, killed_n: int, n: int) -> bool:
    """Whether the user is told, between two events, that a turn did not succeed."""
    said = (s for s in turn.endings if killed_n < s.n < n)
    return any(claimed(sending) != "completed" for sending in said)
