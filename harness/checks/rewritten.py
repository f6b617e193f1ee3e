"""Rows that change under our hands: gone, altered, or written a second time.

A compaction may replace rows, and its notice may come after the write: so what vanishes is judged
by the next call. A row is a second one when it repeats the label of an inbound message, the ids of
a tool call, or the words of an earlier turn that nobody said again.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.message_lists import squeeze
from harness.checks.rows import is_user_text
from harness.core.history.events import Called, Ended, Stored, StoredRow
from harness.core.history.trace import Trace, Turn
from harness.core.values.calls import OutboxRequest
from harness.core.values.messages import Message, Text, side
from harness.core.values.verdict import Finding


def replaced(trace: Trace) -> Iterator[Finding]:
    """Rows gone or changed without a compaction in the turn, and not by damage of the files."""
    digests: dict[str, str] = {}
    pending: list[Finding] = []
    compacted: set[tuple[str, int]] = set()
    for event in trace.events:
        if isinstance(event, Stored):
            if event.n not in trace.damages:
                pending += _rewrites(trace, event, digests)
            for row in (*event.added, *event.changed):
                digests[row.id] = row.digest
        elif isinstance(event, Called):
            if _compacts(event):
                compacted.add((event.session, event.turn))
            if (event.session, event.turn) not in compacted:
                yield from pending
            pending = []
        elif isinstance(event, Ended):
            yield from pending
            pending = []


def _compacts(called: Called) -> bool:
    said = called.request
    notice = isinstance(said, OutboxRequest) and said.kind == "compaction"
    return notice or called.purpose == "compact"


def _rewrites(trace: Trace, event: Stored, digests: dict[str, str]) -> Iterator[Finding]:
    if event.gone:
        text = f"{len(event.gone)} stored rows are gone without a compaction: "
        yield Finding("reload_equivalence.gone", text + ", ".join(event.gone[:5]), (event.n,))
    for row in event.changed:
        before = trace.messages.get(digests.get(row.id, ""))
        after = trace.messages.get(row.digest)
        if before and after and before != after and not _grows(before, after):
            text = f"stored row {row.id} says something else than before"
            yield Finding("reload_equivalence.changed", text, (event.n,))


def _grows(before: Message, after: Message) -> bool:
    """Whether an answer was stored while it came: all that was there is still there."""
    if side(before) != "assistant" or len(after.blocks) < len(before.blocks):
        return False
    *whole, last = before.blocks or (Text(""),)
    if tuple(whole) != after.blocks[: len(whole)]:
        return False
    now = after.blocks[len(whole)] if len(after.blocks) > len(whole) else last
    if isinstance(last, Text) and isinstance(now, Text):
        return now.text.startswith(last.text)
    return now == last


def doubled(trace: Trace) -> Iterator[Finding]:
    """Rows stored again. What is there before the first message comes is taken as it is."""
    seen = _Seen()
    turns = [turn for turn in trace.turns.values() if turn.delivery]
    at, current = 0, None
    for event in trace.stored:
        while at < len(turns) and turns[at].opened_n < event.n:
            current, at = turns[at], at + 1
        seen.remove(event.gone)
        given = current is None and event is trace.stored[0]
        for row in event.added:
            message = trace.messages.get(row.digest, Message("user"))
            old = current is not None and seen.since.get(row.digest, event.n) < current.opened_n
            taken = seen.add(row, message, event.n) and not _asked_again(trace, current, message)
            if (taken and not given) or (old and _again(trace, current, row, message)):
                text = f"row {row.id} stores again what is stored already"
                yield Finding("reload_equivalence.duplicate", text, (event.n,))


class _Seen:
    """What is stored now: since when a digest is, and the marks that may stand only once."""

    def __init__(self) -> None:
        self.since: dict[str, int] = {}
        self._digests: dict[str, str] = {}
        self._marks: dict[tuple[str, ...], str] = {}
        self._of: dict[str, tuple[str, ...]] = {}

    def add(self, row: StoredRow, message: Message, n: int) -> bool:
        """Keep a row; whether its mark is taken by another one."""
        self._digests[row.id] = row.digest
        self.since.setdefault(row.digest, n)
        mark = _mark(row, message)
        if not mark:
            return False
        taken = self._marks.setdefault(mark, row.id) != row.id
        self._of[row.id] = mark
        return taken

    def remove(self, rows: tuple[str, ...]) -> None:
        """Rows are gone, their marks free."""
        for row in rows:
            self.since.pop(self._digests.pop(row, ""), None)
            mark = self._of.pop(row, None)
            if mark and self._marks.get(mark) == row:
                del self._marks[mark]


def _mark(row: StoredRow, message: Message) -> tuple[str, ...]:
    """What at most one row has: the label of an inbound message, or the ids of tool blocks."""
    if row.inbound:
        return ("inbound", row.inbound)
    calls = tuple(use.id for use in message.tool_uses)
    results = tuple(result.id for result in message.tool_results)
    return ("calls", *calls) if calls else ("results", *results) if results else ()


def _asked_again(trace: Trace, turn: Turn | None, message: Message) -> bool:
    """Whether the model made calls of these ids in the turn as often as they are stored in it.

    Some providers give each call the same id.
    """
    ids = {use.id for use in message.tool_uses} or {result.id for result in message.tool_results}
    if turn is None or not ids:
        return False
    made = [e.reply.tool_uses for e in turn.exchanges if e.reply]
    mark = _mark(StoredRow("", ""), message)
    rows = [m for _, row, m in trace.rows_added(turn) if not row.inbound]
    stored = sum(_mark(StoredRow("", ""), m) == mark for m in rows)
    return stored <= sum(ids <= {use.id for use in uses} for uses in made)


def _again(trace: Trace, turn: Turn | None, row: StoredRow, message: Message) -> bool:
    """Whether nobody said in the turn what an old text row says again; known once it is settled."""
    if turn is None or not turn.settled_n or row.inbound or message.tool_results:
        return False
    if message.tool_uses or not message.text.strip() or _compacted(trace, turn):
        return False
    if is_user_text(message):
        return squeeze(turn.text) not in squeeze(message.text)
    said = [e.reply.text for e in turn.exchanges if e.reply]
    said += [s.request.text for s in turn.sendings]
    return all(squeeze(message.text) not in squeeze(text) for text in said)


def _compacted(trace: Trace, turn: Turn) -> bool:
    return any(compaction.turn is turn for compaction in trace.compactions)
