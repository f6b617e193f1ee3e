"""The stored session matches the run: no row is lost, changed or doubled, and a start reads it.

A compaction's notice may follow its write, so the next call decides which rows vanished. After a
start, only the last reply to the user must be present; an agent may leave out older messages.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice, pairwise, takewhile
from operator import attrgetter

from harness.checks.evidence.carried_words import changed_to, plain_words
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import ANOTHER_WRITER, FAILED_STORE, Case
from harness.checks.evidence.misplaced_results import is_same, is_unasked, waiting_calls
from harness.checks.evidence.seen_rows import SeenRows, mark_of, since
from harness.checks.evidence.shown_text import difference
from harness.checks.evidence.stored_messages import (
    finished_turns,
    grows,
    inbound_rows,
    is_user_text,
    named_inbound,
    reply_rows,
    same_text,
    says,
    squeeze,
    stored_elsewhere,
)
from harness.checks.evidence.turn_outcomes import (
    WINDOW_RULES,
    claimed,
    is_a_reply,
    is_over_window,
)
from harness.core.history.events import Called, Ended, Stored, StoredRow
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.calls import OutboxRequest
from harness.core.values.messages import Message, Text, canonical, side
from harness.core.values.verdict import Finding
from harness.core.values.visible_text import SHOWN, abridged


@needs("store", "inbox", "outbox", told_by="run", place=340)
@excused_by(lost_rows=(FAILED_STORE, ANOTHER_WRITER))
def reload_equivalence(history: History) -> Iterator[Finding | Case]:
    """The stored rows are the live messages: each once, unchanged, in order.

    `lost_inbound`, `lost_reply`: a finished turn does not store its inbound message or the reply
    that was delivered. `order`: the reply is stored before the message. `blank`: a
    message without text is stored, and no later request can carry it. `duplicate`: a row or a reply
    is stored again. `gone`, `changed`: rows vanish or change their text without a compaction; an
    answer may grow. `forgotten`: a session's first request after a start lacks its last reply,
    although the store has it. An agent may leave out a turn that failed. Source: invariant 27.
    """
    trace = history.trace
    yield from _replaced(trace)
    yield from _doubled(trace)
    yield from _forgotten(trace)
    for turn in finished_turns(trace):
        yield Case("lost_rows", _lost(trace, turn), turn)
        yield from _reply_twice(trace, turn)
    yield from _blanks(trace)


def _blanks(trace: Trace) -> Iterator[Finding]:
    """Rows that keep an inbound message without text."""
    for turn in trace.turns.values():
        if turn.delivery is None or turn.text.strip() or turn.delivery.inbound.kind != "message":
            continue
        for event, row, message in trace.rows_added(turn):
            if event.n < turn.opened_n:
                continue  # an earlier delivery of the message had another text
            if message.text.strip():
                continue  # the agent stores words of its own, such as "(an empty message)"
            if named_inbound(row, message) == turn.delivery.inbound.id or is_user_text(message):
                text = f"{turn.words}: its message is blank, and is stored"
                yield Finding("reload_equivalence.blank", text, (turn.opened_n, event.n))


def _lost(trace: Trace, turn: Turn) -> Iterator[Finding]:
    inbound = inbound_rows(trace, turn)
    if not (inbound or turn.redelivery):  # it has the row of the turn that answered it
        text = f"{turn.words}: the inbound message is not stored{stored_elsewhere(trace, turn)}"
        yield Finding("reload_equivalence.lost_inbound", text, (turn.opened_n, turn.settled_n))
    for ending in (each for each in turn.endings if each.request.text.strip()):
        replies = reply_rows(trace, turn, ending.request.text)
        if not replies and ending.request.kind == "final" and is_a_reply(ending):
            text = f"{turn.words}: the reply was delivered and is not stored"
            text += stored_elsewhere(trace, turn)
            if other := [m.text for _, _, m in trace.rows_added(turn) if _is_reply(m)]:
                text = f"{turn.words}: {difference(ending.request.text, other[-1])}"
            yield Finding("reload_equivalence.lost_reply", text, (ending.n, turn.settled_n))
        elif replies and inbound and replies[-1].place < inbound[0].place < len(trace.events):
            text = f"{turn.words}: the reply is stored before the message that it answers"
            yield Finding("reload_equivalence.order", text, (replies[-1].n, inbound[0].n))


def _forgotten(trace: Trace) -> Iterator[Finding]:
    """Yield the starts after which a first request lacks the last reply, although it is stored.

    The check ends at the first compaction or request over the window, because later requests may be
    shorter.
    """
    sessions = {turn.session for turn in trace.turns.values() if turn.delivery}
    main = [e for e in trace.exchanges if e.purpose == "main" and not e.request.unread]
    main = [e for e in main if e.called.session in sessions]
    for place, start in enumerate(trace.starts):
        end_n = trace.starts[place + 1].n if place + 1 < len(trace.starts) else trace.events[-1].n
        asked = [e for e in main if start.n < e.n <= end_n]
        firsts = {e.called.session: e for e in reversed(asked)}
        for first in reversed(firsts.values()):
            said = None if _may_be_less(trace, first) else _said_last(trace, first, sessions)
            if said is not None and not says(first.node, said.text):
                text = f"{first.called.key}: the first request after the start lacks the last reply"
                yield Finding("reload_equivalence.forgotten", text, (start.n, first.n))


def _may_be_less(trace: Trace, first: Exchange) -> bool:
    # A row has no session, so a compaction of any session excuses. Only this check has that rule.
    compacted = any(c.n < first.n for c in trace.compactions)
    over = (e for e in trace.exchanges if e.n <= first.n)
    return compacted or any(WINDOW_RULES.intersection(e.called.refused) for e in over)


def _said_last(trace: Trace, first: Exchange, sessions: Collection[str]) -> Message | None:
    """The last stored reply before the first call of the request's turn, and after the last damage
    of the store's files.

    A reply before the first user message does not count, because no request can begin with it. If
    the store does not name the session of a row, its words do, where there are several.
    """
    session = first.called.session
    opened_n = trace.turns[session, first.called.turn].opened_n
    rows = _rows_before(trace, opened_n, first.n)
    own = (row for row in rows.values() if row.session in ("", session))
    messages = [trace.messages.get(row.digest, Message("user")) for row in own]
    if len(sessions) > 1 and not any(row.session for row in rows.values()):
        sent = (s for s in trace.sendings if s.called.session == session and s.n < opened_n)
        told = {squeeze(sending.request.text) for sending in sent}
        asked_of = {squeeze(turn.text) for turn in trace.turns.values() if turn.session == session}
        # By side: what a user of this session says may be an answer in another one.
        messages = [m for m in messages if squeeze(m.text) in (told if _is_reply(m) else asked_of)]
    asked = next((i for i, m in enumerate(messages) if is_user_text(m) and m.text.strip()), None)
    if asked is None:
        return None
    failures = _told_as_failures(trace, first.n)
    replies = (m for m in reversed(messages[asked:]) if _is_reply(m))
    return next((m for m in replies if not any(same_text(m.text, t) for t in failures)), None)


def _told_as_failures(trace: Trace, before_n: int) -> set[str]:
    """The texts that told the user about failed turns, without texts that a success has too. An
    agent may leave such a turn out of its requests."""
    told = [s for s in trace.sendings if s.n < before_n]
    good = {s.request.text for s in told if claimed(s) == "completed"}
    return {s.request.text for s in told if s.request.text.strip()} - good


def _rows_before(trace: Trace, opened_n: int, first_n: int) -> dict[str, StoredRow]:
    rows: dict[str, StoredRow] = {}
    for look in trace.stored:
        if look.n < opened_n:
            rows |= {row.id: row for row in (*look.added, *look.changed)}
            rows = {id: row for id, row in rows.items() if id not in look.gone}
        elif look.n < first_n and look.n in trace.damages:
            lost = {*look.gone, *(row.id for row in look.changed)}
            rows = {id: row for id, row in rows.items() if id not in lost}
    return rows


def _is_reply(message: Message) -> bool:
    return message.role == "assistant" and bool(message.text.strip()) and not message.tool_uses


def _replaced(trace: Trace) -> Iterator[Finding]:
    """Yield the rows that are gone or changed without a compaction in the turn or damage of the
    files."""
    rows: dict[str, StoredRow] = {}
    pending: list[tuple[str, Finding]] = []
    newest: dict[str, tuple[str, int]] = {}
    compacted: set[tuple[str, int]] = set()
    # After a refusal for size an agent may shorten its rows itself, without a summary. It may have
    # read one that is broken.
    summaries = {
        e.n for e in trace.exchanges if e.used_as == "compact" or e.too_large or is_over_window(e)
    }
    for event in trace.events:
        if isinstance(event, Stored):
            if event.n not in trace.damages:
                pending += _rewrites(trace, event, rows, newest)
            for id in event.gone:
                rows.pop(id, None)
            rows |= {row.id: row for row in (*event.added, *event.changed)}
        elif isinstance(event, Called):
            place = newest[event.session] = event.session, event.turn
            if _compacts(event) or event.n in summaries:
                compacted.add(place)
            # A store may be rewritten just before the request that shows why: wait for that one,
            # beside the calls of other sessions.
            due = [found for of, found in pending if of in ("", event.session)]
            pending = [(of, found) for of, found in pending if of not in ("", event.session)]
            yield from () if place in compacted else due
        elif isinstance(event, Ended):
            yield from (found for of, found in pending if newest.get(of) not in compacted)
            pending = []


def _compacts(called: Called) -> bool:
    said = called.request
    notice = isinstance(said, OutboxRequest) and said.kind == "compaction"
    return notice or called.purpose == "compact"


def _rewrites(
    trace: Trace,
    event: Stored,
    rows: dict[str, StoredRow],
    newest: Mapping[str, tuple[str, int]],
) -> Iterator[tuple[str, Finding]]:
    """Yield what is said of rows that vanish or change, and the session that they name."""
    changed = [row.id for row in event.changed]
    # An agent that takes a row out of a list in a table gives the rows behind it other places.
    moved = {row.digest for row in (*event.added, *event.changed)}
    known = {id: rows.get(id, StoredRow(id, "")) for id in (*event.gone, *changed)}
    lost = [row for row in event.gone if known[row].digest not in moved]
    said = {row: trace.messages.get(known[row].digest, Message("user")) for row in lost}
    left = (row.digest for row in rows.values() if row.id not in said)
    waiting = waiting_calls(trace, left) if said else ()
    # A reader may join neighbours, once a call beside them shows of which API the list is.
    into = [trace.messages.get(row.digest, Message("user")) for row in event.changed]
    texts = {block.text for message in into for block in message.blocks if isinstance(block, Text)}
    said = {row: message for row, message in said.items() if not texts.issuperset(_only(message))}
    if gone := [row for row, message in said.items() if not is_unasked(message, waiting)]:
        of, *others = {known[row].session for row in gone}
        asked = newest.get(of) or next(iter(newest.values()), ("", 0))
        text = f"stored rows are gone without a compaction{since(trace, asked, event.n)}: "
        text += canonical(abridged(plain_words(said[gone[0]]), SHOWN))
        text += f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        found = Finding("reload_equivalence.gone", text, (event.n,))
        yield "" if others else of, found
    for row in (row for row in event.changed if known[row.id].digest not in moved):
        before = trace.messages.get(known[row.id].digest)
        after = trace.messages.get(row.digest)
        own = (id for id, each in reversed(rows.items()) if each.session == row.session)
        is_last = row.id == next(own, "")
        if before and after and not is_same(before, after) and not grows(before, after, is_last):
            text = f"stored row {row.id}, {before.role}, {changed_to(before.text, after.text)}"
            yield row.session, Finding("reload_equivalence.changed", text, (event.n,))


def _only(message: Message) -> Iterator[str]:
    """The texts of a message; an empty one for any other block, which no text equals."""
    return (block.text if isinstance(block, Text) else "" for block in message.blocks or ("",))


def _doubled(trace: Trace) -> Iterator[Finding]:
    """Yield the rows that are stored again. Rows from before the first message are not judged."""
    seen, turns = SeenRows(), [turn for turn in trace.turns.values() if turn.delivery]
    at, newest, wrote = 0, dict[str, Turn](), dict[tuple[str, str], Turn | None]()
    for event in trace.stored:
        while at < len(turns) and turns[at].opened_n < event.n:
            newest[turns[at].session] = newest[""] = turns[at]
            at += 1
        # A compaction of a file without ids of rows gives the places of its rows to others.
        seen.remove((*event.gone, *(row.id for row in event.changed)))
        given = not newest and not seen.since  # also what a kill at the start took and gave back
        for row in event.added:
            current = newest.get(row.session)
            message = trace.messages.get(row.digest, Message("user"))
            key, n = (row.session, row.digest), event.n
            since = seen.since.get(key, n)
            old = current is not None and since < current.opened_n
            session = row.session or (current.session if current else "main")
            taken = seen.add(trace, row, message, n, session)
            taken = taken and not _asked_again(trace, current, message, n)
            # Damage that puts a call in again asks for a second result.
            laid = message.tool_results and any(since < damage < n for damage in trace.damages)
            first = wrote.setdefault(key, current)
            late = [] if row.session else turns[max(0, at - _BESIDE) : at]
            again = old and _again(trace, current, row, message, first, _open_at(late, event.n))
            if (taken and not given and not laid) or again:
                text = f"row {row.id} is stored already"
                yield Finding("reload_equivalence.duplicate", text, (event.n,))


_by_n = attrgetter("n")


def _reply_twice(trace: Trace, turn: Turn) -> Iterator[Finding]:
    """Yield neighbouring rows with equal replies, if the turn had fewer such replies."""
    rows = [(event, row, m) for event, row, m in trace.rows_added(turn) if side(m) != "system"]
    texts = [squeeze(m.text) if _is_reply(m) else "" for _, _, m in rows]
    said = Counter(squeeze(e.reply.text) for e in turn.exchanges if e.reply)
    # Replies to several messages that came in the turn are sendings of their turns.
    begins_n = min([turn.opened_n, *(event.n for event, _, _ in rows[:1])])  # it may have waited
    ends_n = turn.settled_n or trace.events[-1].n
    since, until = (bisect_left(trace.sendings, n, key=_by_n) for n in (begins_n, ends_n + 1))
    own = [s for s in trace.sendings[since:until] if s.called.session == turn.session]
    told = Counter(squeeze(s.request.text) for s in {*own, *turn.sendings})
    if rows and not any(row.session for _, row, _ in rows):
        # A reader lets turns of several sessions be open: such rows may be those of another one.
        first = bisect_left(trace.exchanges, turn.opened_n, key=_by_n)
        near = islice(trace.exchanges, max(0, first - _BESIDE), None)
        until = rows[-1][0].n
        asked = {(e.called.session, e.called.turn) for e in takewhile(lambda e: e.n < until, near)}
        beside = _open_at([trace.turns[key] for key in asked if key in trace.turns], turn.opened_n)
        said |= Counter(squeeze(e.reply.text) for t in beside for e in t.exchanges if e.reply)
        told |= Counter(squeeze(s.request.text) for each in beside for s in each.sendings)
    for ((before, _, _), one), ((event, row, _), two) in pairwise(zip(rows, texts, strict=True)):
        if one and one == two and texts.count(one) > max(said[one], told[one]):
            text = f"row {row.id} stores the reply of {turn.words} again"
            yield Finding("reload_equivalence.duplicate", text, (before.n, event.n))


_BESIDE = 16
"""How many of the newest turns may have written a row whose session the store does not tell."""


def _open_at(turns: list[Turn], n: int) -> list[Turn]:
    """The turns that end after an event. Sessions work beside one another, and may look ahead."""
    return [t for t in turns if max([t.settled_n or n + 1, *(e.n for e in t.endings)]) > n]


def _asked_again(trace: Trace, turn: Turn | None, message: Message, n: int) -> bool:
    """Whether the model made calls of these ids in the turn as often as they are stored in it.

    Some providers give each call the same id. An agent that gives its own ids may begin to count
    again after a compaction. Then each row with such calls has an answer of the turn.
    """
    ids = {use.id for use in message.tool_uses} or {result.id for result in message.tool_results}
    if turn is None or not ids:
        return False
    made = [e.reply.tool_uses for e in turn.exchanges if e.reply]
    mark = mark_of(StoredRow("", ""), message)
    rows = [m for _, row, m in trace.rows_added(turn) if not named_inbound(row, m)]
    stored = sum(mark_of(StoredRow("", ""), m) == mark for m in rows)
    if stored <= sum(ids <= {use.id for use in uses} for uses in made):
        return True
    if not any(c.turn.session == turn.session and c.n < n for c in trace.compactions):
        return False
    if message.tool_results:
        return stored <= sum({use.id for use in m.tool_uses} == ids for m in rows)
    names = [use.name for use in message.tool_uses]
    alike = sum([use.name for use in m.tool_uses] == names for m in rows)
    return alike <= sum([use.name for use in uses] == names for uses in made)


def _again(
    trace: Trace, turn: Turn | None, row: StoredRow, message: Message, first: Turn | None,
    beside: list[Turn],
) -> bool:  # fmt: skip
    """Whether a row repeats an old text that nothing in its turn repeated; known once the turn
    settled. A row that was neither message nor reply of its `first` turn is a note of the agent,
    such as "Stop here": it may come in each turn."""
    if turn is None or not turn.settled_n or message.tool_results or named_inbound(row, message):
        return False
    if message.tool_uses or not message.text.strip():
        return False
    if any(compaction.turn is turn for compaction in trace.compactions):
        return False
    turns = [*_writers(trace, turn), *beside]
    if is_user_text(message):
        text = squeeze(message.text)
        is_note = first is not None and not _holds_message(text, _writers(trace, first))
        waits = (squeeze(each.inbound.text) for each in (*turn.waiting, *turn.came))
        is_next = any(said and said in text for said in waits)
        return not (is_note or is_next or _holds_message(text, turns))
    text = squeeze(message.text)
    is_note = first is not None and not _holds_reply(text, _writers(trace, first))
    return not is_note and not _holds_reply(text, turns)


def _holds_reply(text: str, turns: list[Turn]) -> bool:
    said = [e.reply.text for t in turns for e in t.exchanges if e.reply]
    said += [s.request.text for t in turns for s in t.sendings]
    return any(text in squeeze(one) for one in said)


def _holds_message(text: str, turns: list[Turn]) -> bool:
    return any(squeeze(turn.text) in text for turn in turns)


def _writers(trace: Trace, turn: Turn) -> list[Turn]:
    """The turns that a row of this turn may belong to; an agent's own store may show rows of the
    last."""
    before = trace.turns.get((turn.session, turn.number - 1))
    return [before, turn] if trace.own_store and before else [turn]
