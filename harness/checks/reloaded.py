"""What an agent reads back when it starts: the session that its store holds, and no blank page.

The rows can be read, for the harness has read them; so the first request after the start holds
them. Only the last thing that was said to the user is asked for: an agent may leave out what is
long ago, and what it was about to do when it was killed.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.answers import WINDOW_RULES
from harness.checks.evidence.message_lists import says
from harness.checks.rows import is_user_text
from harness.core.history.events import Started, StoredRow
from harness.core.history.exchanges import Exchange
from harness.core.history.trace import Trace
from harness.core.values.messages import Message
from harness.core.values.verdict import Finding


def forgotten(trace: Trace) -> Iterator[Finding]:
    """Starts after which the first request lacks what was said last, though it is stored.

    A store does not tell whose session a row is, so only runs of one session are judged; and only
    up to the first compaction, or request over the window, after which less may be sent.
    """
    if len({turn.session for turn in trace.turns.values() if turn.delivery}) != 1:
        return
    for place, start in enumerate(trace.starts):
        end_n = trace.starts[place + 1].n if place + 1 < len(trace.starts) else trace.events[-1].n
        first = _first_main(trace, start, end_n)
        if first is None or _may_be_less(trace, first):
            continue
        said = _said_last(trace, first)
        if said is not None and not says(first.node, said.text):
            text = f"{first.called.key}: the first request after the start lacks what was said last"
            yield Finding("reload_equivalence.forgotten", text, (start.n, first.n))


def _first_main(trace: Trace, start: Started, end_n: int) -> Exchange | None:
    return next(
        (e for e in trace.exchanges if start.n < e.n <= end_n and e.purpose == "main"), None
    )


def _may_be_less(trace: Trace, first: Exchange) -> bool:
    compacted = any(c.n < first.n for c in trace.compactions)
    over = (e for e in trace.exchanges if e.n <= first.n)
    return compacted or any(WINDOW_RULES.intersection(e.called.refused) for e in over)


def _said_last(trace: Trace, first: Exchange) -> Message | None:
    """The last stored reply, as the store was before the first call of the request's turn, and is
    since the last damage of its files.

    One before which no user has said anything does not count: no request can begin with it.
    """
    rows = _rows_before(
        trace, trace.turns[first.called.session, first.called.turn].opened_n, first.n
    )
    messages = [trace.messages.get(row.digest, Message("user")) for row in rows.values()]
    asked = next((i for i, m in enumerate(messages) if is_user_text(m) and m.text.strip()), None)
    if asked is None:
        return None
    return next((m for m in reversed(messages[asked:]) if _is_reply(m)), None)


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
