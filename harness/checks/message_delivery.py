"""Message delivery: each inbound message has one turn, each turn one reply, one turn at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.checks.evidence.carried_words import changed_to, is_changed, is_held
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    BLANK,
    CANCEL,
    COMPACTION,
    FAILED_STORE,
    KILL,
    KILL_BEFORE_ACCEPTED,
    LAID_TWICE,
    LIMIT,
    REDELIVERY,
    TAKEN,
    Case,
    Marks,
    is_excused,
)
from harness.checks.evidence.messages_in_turn import (
    NO_STRETCH,
    Stretch,
    answers_question,
    came_in_turn,
    ends_twice,
    named_instead,
    needs_nothing,
    stands_for,
    stretches,
    why_twice,
)
from harness.checks.evidence.repeated_replies import (
    is_kept_back,
    is_marked_copy,
    is_unsure_copy,
    may_repeat,
    outbox_was_silent,
    shown_again,
)
from harness.checks.evidence.seen_cancels import is_after_cancel
from harness.checks.evidence.seen_rows import since
from harness.checks.evidence.shown_text import is_silent
from harness.checks.evidence.stored_messages import (
    Answered,
    comes_again,
    inbound_rows,
    may_be_stored,
    newest_text,
    paragraphs,
    same_text,
    squeeze,
    stored_elsewhere,
    times_said,
)
from harness.checks.evidence.told_results import is_reflowed
from harness.checks.evidence.turn_outcomes import claimed, is_local, is_resent, is_waiting
from harness.checks.evidence.unanswered_messages import begins_again, why_unanswered
from harness.core.history.exchanges import Exchange, Sending
from harness.core.history.history import History
from harness.core.history.past import MessageName
from harness.core.history.trace import Trace, Turn
from harness.core.values.verdict import Cause, Finding

_STOPS = (CANCEL, KILL, LIMIT)
"""The excuses that end a turn from outside."""

_ORDERLY = frozenset({"next", "returned"})
"""The states of a settled turn in which nothing excuses a missing reply."""


@needs("inbox", "model", told_by="run", place=380)
@excused_by(
    second_turn=(KILL, FAILED_STORE),
    nothing_done=(CANCEL, KILL_BEFORE_ACCEPTED, LIMIT, TAKEN),
    stored=(FAILED_STORE,),
    stored_again=(FAILED_STORE, COMPACTION),
    doubled=(FAILED_STORE, LAID_TWICE),
    comes_again=(FAILED_STORE,),
)
def inbound_exactly_once(history: History) -> Iterator[Finding | Case]:
    """Each inbound message is the newest user text of its own turn's first request, and no other.

    `lost`: the model never gets it, it has no reply, or it is not stored. `changed`: the model
    reads a part of it, or its words in another writing. `white_space`: its lines are joined, or
    have lost their indentation. `twice`: it starts a second turn, comes again as new after its
    reply, or is stored again. `order`: it is in its request, but before an older message.
    `doubled`: a request holds it twice, as after a retry. For a message in mid-turn the profile's
    `inbound` names the turn. `early`: the model gets it in the open turn, against `queue` or
    `collect`, or in one turn with another message, against `queue`. `late`: it gets it in another
    one, against `steer` or `interrupt`, or `collect` leaves it for a second turn.

    Not a finding: words before or after it; other line ends, or white space around it; the message
    of a turn that failed or whose reply was empty, which the history may keep; a request that
    cannot be read; a command that the program itself answers; a message that answers a question of
    the agent (status `waiting`, or a notice about a call that needs an approval); a long message
    with a notice in place of its middle; the agent's own reply that comes back a third time.
    Source: invariant 29.
    """
    trace = history.trace
    # The newest turn of each message: a kill in it lets the message begin again, until its reply
    # is delivered. In incident 153 two loops gave different answers to one message after one kill.
    newest: dict[MessageName, Turn] = {}
    answered: Answered = {}
    for turn in trace.turns.values():
        if turn.delivery is None or not turn.text.strip():
            continue
        name = turn.session, turn.delivery.inbound.id
        before, newest[name] = newest.get(name), turn
        if before is not None and turn.main and trace.gets_ids:
            text = f"the message {turn.delivery.inbound.id} starts a second turn"
            events = (before.opened_n, turn.main[0].n)
            found = Finding("inbound_exactly_once.twice", text, events, cause=Cause(subject="turn"))
            yield Case("second_turn", [found], before, turn.main[0].n)
        if before is None:
            yield from _in_request(trace, turn, answered)
            yield from _in_store(trace, turn)
        if turn.readable:
            yield from _doubled(trace, turn, turn.readable[-1])
            cancelled = trace.turns.get((turn.session, turn.number - 1))
            if cancelled and cancelled.cancelled_n and cancelled.delivery and cancelled.readable:
                yield from _doubled(trace, cancelled, turn.readable[0])
        if turn.came:
            yield from came_in_turn(trace, turn)
        newest |= {(turn.session, each.inbound.id): turn for each in turn.joined}
        if any(claimed(e) == "completed" and e.request.text.strip() for e in turn.endings):
            for text in (turn.text, *(each.inbound.text for each in turn.joined)):
                beginning = paragraphs(text)[0]
                answered.setdefault((turn.session, beginning), []).append((turn, text.strip()))


def _in_request(trace: Trace, turn: Turn, answered: Answered) -> Iterator[Finding | Case]:
    assert turn.delivery is not None
    name, opened = turn.delivery.inbound.id, turn.delivery.n
    if not turn.main:
        is_open = turn.settled_by in _ORDERLY and not (turn.sendings or turn.redelivery)
        if is_open and not (needs_nothing(trace, turn) or begins_again(trace, turn)):
            text = f"nothing is done about the message {name}, {turn.text[:60]!r}"
            text += why_unanswered(trace, turn)
            ends, cause = (opened, turn.settled_n), Cause(subject="turn")
            found = Finding("inbound_exactly_once.lost", text, ends, cause=cause)
            yield Case("nothing_done", [found], turn)
        return
    if not turn.readable:
        return  # an unreadable request may hold the message
    newest = newest_text(first := turn.readable[0])
    is_there = squeeze(turn.text) in (sent := squeeze(newest)) or is_held(turn.text, sent)
    if not is_there and not answers_question(trace, turn, first):
        rule, text = _misplaced(trace, turn, first, newest)
    elif is_there and "\n" in turn.text.strip() and is_reflowed(turn.text, newest):
        rule, text = "white_space", "has lost its lines or their indentation"
    else:
        rule, text = "", ""
    again = list(comes_again(turn, newest, answered))
    if rule == "lost" and (other := stands_for(trace, turn, newest)):
        rule, text = ("", "") if again else ("order", f"waits, and {other} is in the request")
    if rule:
        text = f"{first.called.key}: the message {name} {text}"
        cause = Cause(subject="request")
        yield Finding(f"inbound_exactly_once.{rule}", text, (opened, first.n), cause=cause)
    for earlier in again:
        text = f"{first.called.key}: a message of turn {earlier.number} comes again as new, "
        text += "although it had its reply"
        events = (earlier.opened_n, earlier.endings[0].n, first.n)
        found = Finding("inbound_exactly_once.twice", text, events, cause=Cause(subject="request"))
        yield Case("comes_again", [found], earlier, first.n)


def _misplaced(trace: Trace, turn: Turn, exchange: Exchange, newest: str) -> tuple[str, str]:
    said = squeeze(turn.text)
    if any(said in squeeze(m.text) for m in exchange.node.messages if m.role == "user"):
        return "order", "is in the request, but not as its newest user text"
    before = trace.turns.get((turn.session, turn.number - 1))
    is_older = before is not None and before.text.strip() in newest and before.text.strip() != ""
    if is_older or not is_changed(turn.text, newest):
        ended = since(trace, (turn.session, turn.number - 1), exchange.n)
        return "lost", f"is not in the first request of its turn{ended}"
    return "changed", changed_to(turn.text, newest)


def _doubled(trace: Trace, turn: Turn, last: Exchange) -> Iterator[Case]:
    """Count a message from the last request back to the answer before it; all, if that is later."""
    is_own = last.called.turn == turn.number
    times = times_said(said := squeeze(turn.text), last, anywhere=not is_own)
    if times > 1 and not is_own:
        times -= times_said(said, turn.readable[0], anywhere=True) - 1
    if times > 1 and _has_rows(trace, turn):
        times -= times_said(said, turn.readable[0]) - 1  # an unanswered row may hold the words
    came = [d.inbound for d in trace.deliveries if d.n < last.n] if times > 1 else []
    if came and trace.gets_ids and not trace.kills:  # else it may keep a message that comes again
        came = [*{(each.session, each.id): each for each in came}.values()]
    texts = Counter(i.text for i in came).items()  # a chat may say "yes" a thousand times
    may_be = sum(count for text, count in texts if same_text(text, turn.text))
    if times > may_be > 0 and turn.delivery:
        text = f"{last.called.key}: the message {turn.delivery.inbound.id} is there {times} times"
        events, cause = (turn.delivery.n, last.n), Cause(subject="request")
        found = Finding("inbound_exactly_once.doubled", text, events, cause=cause)
        yield Case("doubled", [found], turn, last.n)


def _has_rows(trace: Trace, turn: Turn) -> bool:
    """Whether rows stood in the store before the message; those of a framework may be unread."""
    began = turn.number == 1 and trace.settings.get("seeded") and not trace.stored
    sent_n = turn.delivery.n if turn.delivery else 0
    return bool(began) or any(look.n < sent_n for look in trace.stored if look.added)


def _in_store(trace: Trace, turn: Turn) -> Iterator[Case]:
    if "store" not in trace.seams or not turn.settled_n or not turn.endings or is_local(turn):
        return
    if is_waiting(turn) and not turn.main:  # it may wait beside the rows until the user decides
        return
    assert turn.delivery is not None
    placed = inbound_rows(trace, turn)
    rows = {each.row.id: each.n for each in placed}
    events = (turn.delivery.n, *rows.values(), turn.settled_n)
    if not rows:
        text = f"the message {turn.delivery.inbound.id} is not stored"
        text += stored_elsewhere(trace, turn)
        found = Finding("inbound_exactly_once.lost", text, events, cause=Cause(subject="store"))
        yield Case("stored", [found], turn)
    elif len(rows) > may_be_stored(trace, turn, placed):
        text = f"the message {turn.delivery.inbound.id} is stored {len(rows)} times"
        found = Finding("inbound_exactly_once.twice", text, events, cause=Cause(subject="store"))
        yield Case("stored_again", [found], turn)


def _crosses(turn: Turn) -> bool:
    """Whether a message interrupts a turn whose last answer was under way, and came whole."""
    is_message = any(came.n == turn.cancelled_n for came in turn.came)
    last = turn.main[-1] if turn.main and is_message else None
    return last is not None and last.n < turn.cancelled_n and last.succeeded


@needs("inbox", "outbox", told_by="run", place=390)
@excused_by(missing=(BLANK, REDELIVERY, TAKEN, *_STOPS), taken=(BLANK, REDELIVERY, *_STOPS))
def outbound_once(history: History) -> Iterator[Finding | Case]:
    """A turn ends with exactly one final or error, and reports no success after a cancel.

    `missing`: it ends without one, its message is new, and the model did not say that the user gets
    no reply (`silent` in the profile); or a kill comes first, and the stored reply is never sent.
    `unconfirmed`: the outbox was silent about the reply, which never came, and it is not repeated.
    `taken`: another process on the session has accepted the message first, and the user is not
    told. `twice`: it ends with several. `repeated`: the user reads a part of a failed answer, and
    the next one shows it again. `after_cancel`: a success is reported after it. A notice, an error,
    the status `cancelled` and an answer under way as a message interrupts are not one.
    `misnamed`: the reply names an earlier message, which has its reply already, and no reply names
    this one.

    What the outbox did not accept may be sent again, as may what a kill or its silence leaves
    unsure. `unmarked`: it comes in the same words, and does not say that it may be a repetition.
    Source: invariant 30.
    """
    trace, marks = history.trace, Marks(history.trace)
    for turn in trace.turns.values():
        if turn.delivery is None:
            continue
        endings = turn.endings
        if len(endings) > 1 and ends_twice(turn):
            yield from _ended_again(trace, turn)
        if turn.came_in is not None and is_resent(turn):
            yield from _sent_again(trace, turn)
        is_open = not endings and turn.settled_by in _ORDERLY and not needs_nothing(trace, turn)
        if is_open and not (is_local(turn) or is_silent(trace, turn) or is_waiting(turn)):
            events = (turn.opened_n, turn.settled_n)
            text = f"{turn.words} ends without a reply{why_unanswered(trace, turn)}"
            rule = "unconfirmed" if outbox_was_silent(turn) else "missing"
            yield Case("missing", [Finding(f"outbound_once.{rule}", text, events)], turn)
            if not turn.main and is_excused(marks, Case("", (), turn), (TAKEN,)):
                text = f"{turn.words}: another process has taken its message, and nothing is said"
                yield Case("taken", [Finding("outbound_once.taken", text, events)], turn)
        if not (endings or is_silent(trace, turn)) and is_kept_back(trace, turn):
            text = f"{turn.words}: its reply was stored before a kill, and the user never gets it"
            yield Finding("outbound_once.missing", text, (turn.opened_n, turn.interrupted_n))
        for sending in turn.sendings:
            # A retry repeats it, perhaps behind a note that it may be a repetition.
            alike = (s for s in turn.sendings if s.request.kind == sending.request.kind)
            first = next(s for s in alike if s.request.text in sending.request.text)
            late = turn.cancelled_n and is_after_cancel(trace, turn, first) and not _crosses(turn)
            if late and sending.request.kind == "final" and claimed(sending) != "cancelled":
                how = "completed" if claimed(sending) == "completed" else "failed"
                text = f"{turn.words} was cancelled, and a final follows that tells it as {how}"
                yield Finding("outbound_once.after_cancel", text, (turn.cancelled_n, sending.n))
        if name := named_instead(trace, turn):
            text = f"{turn.words} ends with a reply that names {name}, which has its reply already"
            yield Finding("outbound_once.misnamed", text, (turn.opened_n, endings[0].n))
        for first_shown, again in shown_again(turn):
            text = f"{turn.words} shows a part of an answer that failed, and then shows it again"
            yield Finding("outbound_once.repeated", text, (first_shown.n, again.n))


def _ended_again(trace: Trace, turn: Turn) -> Iterator[Finding]:
    """Yield the second end of a turn, unless it is a repetition that says so."""
    first, second, *_ = turn.endings
    again = [e for e in turn.endings[1:] if not may_repeat(trace, turn, e)]
    if again and all(is_unsure_copy(trace, first, e) for e in again):
        yield _unmarked(turn, first, again[0])
    elif again:
        same = "the same text" if first.request.text == second.request.text else "different texts"
        text = f"{turn.words} ends twice, with {same}{why_twice(turn)}"
        if is_marked_copy(trace, first, again[0]):
            text = f"{turn.words} sends its reply again after a start, and it had arrived before"
        yield Finding("outbound_once.twice", text, (first.n, second.n))


def _unmarked(turn: Turn, old: Sending, new: Sending) -> Finding:
    why = "after a kill or a lost answer of the outbox"
    text = f"{turn.words} sends a reply again {why}, and does not say that it may be a repetition"
    return Finding("outbound_once.unmarked", text, (old.n, new.n))


def _sent_again(trace: Trace, turn: Turn) -> Iterator[Finding]:
    """Yield a stored answer that is sent again although the user has it, without a note of that."""
    old = next((e for earlier in turn.earlier for e in reversed(earlier.endings)), None)
    new = turn.endings[-1]
    if old is None:
        return
    if is_unsure_copy(trace, old, new):
        yield _unmarked(turn, old, new)
    elif not is_marked_copy(trace, old, new):
        text = f"{turn.words} sends the reply of an earlier turn again: no kill or note tells why"
        yield Finding("outbound_once.twice", text, (old.n, new.n))


@needs("inbox", "model", "outbox", told_by="run", place=400)
@excused_by(message=NO_STRETCH)
def turn_serial(history: History) -> Iterator[Finding]:
    """A session works on one message at a time.

    `overlap`: the model gets a message while an earlier message of the session has no reply yet.
    Not an overlap: the agent takes several messages before it works on them, or sends them in one
    request. The `in_reply_to` of a reply names the message that it answers. Source: invariant 29.
    """
    open_stretches: dict[str, Stretch] = {}
    for stretch in sorted(stretches(history.trace), key=lambda s: (s.first_n, s.last_n)):
        earlier = open_stretches.get(stretch.session)
        if earlier is not None and _overlap(earlier, stretch):
            text = f"the message {stretch.id} is worked on while {earlier.id} is not answered yet"
            events = (earlier.first_n, stretch.first_n, earlier.last_n)
            yield Finding("turn_serial.overlap", text, events)
        if earlier is None or earlier.last_n < stretch.last_n:
            open_stretches[stretch.session] = stretch


def _overlap(earlier: Stretch, later: Stretch) -> bool:
    """Whether the work on two messages overlaps; after a kill, a message is handed out again, and
    the turn that goes on may collect another one and answer both by one reply."""
    is_within = earlier.first_n < later.first_n < earlier.last_n
    return earlier.id != later.id and is_within and earlier.last_n != later.last_n
