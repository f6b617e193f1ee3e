"""Comparison of messages in stores and requests.

A row is identified by its inbound message, or by its text in a store of the agent's own. Text
comparison ignores white space and lone surrogates. Requests of one conversation share the nodes of
their lists, so two lists are equal if their last nodes are the same object.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TypeAlias

import msgspec

from harness.checks.evidence.turn_outcomes import (
    ending_calls,
    is_local,
    is_resent,
    is_waiting,
)
from harness.core.history.events import Stored, StoredRow
from harness.core.history.exchanges import Ask, Exchange, Node
from harness.core.history.trace import Change, Trace, Turn
from harness.core.values.messages import (
    HALVES,
    Message,
    Text,
    canonical,
    side,
    with_marks,
    without_blanks,
)

Answered: TypeAlias = dict[tuple[str, str], list[tuple[Turn, str]]]
"""Turns with a success as their reply, and the texts that they took in, by session and first
paragraph of the text."""


class Placed(msgspec.Struct, frozen=True):
    """A stored row: the event that stored it, its place in the turn, the row and the message."""

    n: int
    place: int
    row: StoredRow
    message: Message


_BY_ANOTHER = frozenset({"persistence.second_writer", "persistence.second_agent"})
"""Faults that write to the session as another process."""


def written_by_another(trace: Trace) -> list[int]:
    """The events at which another process wrote to the session."""
    return [a.n for a in trace.answers if a.seam == "store" and _BY_ANOTHER.intersection(a.faults)]


def finished_turns(trace: Trace) -> Iterator[Turn]:
    """Yield the delivered turns that ended with a final or an error and cannot change any more. A
    command that the program itself answers does not belong to the conversation. An answer that is
    sent again belongs to the turn before."""
    for turn in trace.turns.values():
        is_over = turn.delivery and turn.text.strip() and turn.settled_n and turn.endings
        # While a call of an earlier turn waits for the user, a message may wait beside the rows.
        is_beside = is_waiting(turn) and not turn.main
        if is_over and not (is_local(turn) or is_resent(turn) or is_beside):
            yield turn


def inbound_rows(trace: Trace, turn: Turn) -> list[Placed]:
    """The durable rows of the turn that keep its inbound message. A store with one row for all that
    the user says in a row adds it to the one that is there."""
    rows, changed = durable_rows(trace, turn), durable_rows(trace, turn, "changed")
    kept = [p for p in rows if keeps_inbound(trace, p.row, p.message, turn)]
    among = changed if kept else [*rows, *changed]
    taken = [p for p in among if _takes_in(p.message, turn)]
    return taken if taken and not (kept and kept[0].n <= taken[0].n) else kept


def _takes_in(message: Message, turn: Turn) -> bool:
    texts = (block.text for block in message.blocks if isinstance(block, Text))
    return side(message) == "user" and any(same_text(text, turn.text) for text in texts)


def reply_rows(trace: Trace, turn: Turn, text: str) -> list[Placed]:
    """The durable rows of the turn that keep a reply with this text; a turn that ends with a tool
    call keeps the call. A reader of items adds a reply to a call that a kill left unanswered."""
    ended = {use.id for e in turn.main[-1:] for use in ending_calls(trace, turn, e)}
    return [
        p
        for p in (*durable_rows(trace, turn), *durable_rows(trace, turn, "changed"))
        if side(p.message) == "assistant"
        and (same_text(p.message.text, text) or ended & {use.id for use in p.message.tool_uses})
    ]


def durable_rows(trace: Trace, turn: Turn, how: Change = "added") -> list[Placed]:
    """The rows that were added or changed in the turn, and that a restart would find."""
    first = len(trace.events) * (how == "changed")  # such a row may be older than the turn
    return [
        Placed(event.n, place, row, message)
        for place, (event, row, message) in enumerate(trace.rows_kept(turn, how), first)
        if event.durable
    ]


def own_rows(trace: Trace, turn: Turn) -> list[tuple[Stored, StoredRow, Message]]:
    """The rows of an agent's own store from a turn's inbound message to its reply, after the turn
    ended. The time of each write is unknown."""
    rows = list(trace.rows_kept(turn))
    ids = [row.id for _, row, _ in rows]
    kept = (p.row.id for p in inbound_rows(trace, turn))
    asked = next((ids.index(id) for id in kept if id in ids), len(ids))
    said = [
        p.row.id for ending in turn.endings for p in reply_rows(trace, turn, ending.request.text)
    ]
    last = next((at for at, id in enumerate(ids) if at > asked and id in said), 0)
    return rows[asked : last + 1]


def keeps_inbound(trace: Trace, row: StoredRow, message: Message, turn: Turn) -> bool:
    """Whether a row keeps the inbound message of the turn."""
    if turn.delivery is None:
        return False
    if name := named_inbound(row, message):
        if name != turn.delivery.inbound.id:
            return False
        return not is_shared(trace, row, name) or same_text(message.text, turn.text)
    return is_user_text(message) and same_text(message.text, turn.text)


def named_inbound(row: StoredRow, message: Message) -> str:
    """The id of the inbound message that a row keeps; "" for rows of the assistant and of tools.
    Some stores give those rows the id of the message that they belong to."""
    return row.inbound if is_user_text(message) else ""


def grows(before: Message, after: Message, is_last: bool) -> bool:
    """Whether an answer only grew, because it is stored while it streams; or the last row, to which
    results or the next message were added."""
    *whole, last = before.blocks or (Text(""),)
    if len(after.blocks) < len(before.blocks) or tuple(whole) != after.blocks[: len(whole)]:
        return False
    now = after.blocks[len(whole)] if len(after.blocks) > len(whole) else last
    if side(before) == "assistant" and isinstance(last, Text) and isinstance(now, Text):
        return now.text.startswith(last.text)
    return now == last and (is_last or side(before) == "assistant")


def may_keep(trace: Trace, row: StoredRow, message: Message) -> int:
    """The number of inbound messages that a row with an inbound id may be about: those of its text,
    if several sessions use the id and the row names no session."""
    name = named_inbound(row, message)
    if not is_shared(trace, row, name):
        return 1
    return sum(same_text(message.text, text) for text in trace.received[name].values())


def is_shared(trace: Trace, row: StoredRow, name: str) -> bool:
    """Whether an inbound id names messages of several sessions, and the row does not name its
    own."""
    return not row.session and len(trace.received.get(name, ())) > 1


def is_user_text(message: Message) -> bool:
    """Whether a message is the user's own text, without tool results."""
    return side(message) == "user" and not message.tool_results


def settled_list(node: Node) -> Node:
    """The list without the newest messages of one side, which may still be changed."""
    last_side = node.side
    while node.parent is not None and node.side in (last_side, "system"):
        node = node.parent
    return node


def stands(settled: Node, node: Node) -> bool:
    """Whether a list still begins with `settled`; a paused answer may have been completed."""
    now = node.first(settled.depth)
    if now is settled:
        return True
    old, new = settled.message.blocks, now.message.blocks
    return now.parent is settled.parent and now.side == settled.side and new[: len(old)] == old


def is_renamed(turn: Turn, ask: Ask, later: Exchange) -> bool:
    """Whether a request holds a call under an id that no answer gave, with its own result."""
    given, run = {other.use.id for other in turn.asks}, ask.execution
    texts = {r.id: squeeze(r.text) for m in later.node.messages for r in m.tool_results}
    call = ask.use.name, canonical(ask.use.input)
    return run is not None and any(
        use.id not in given and squeeze(run.text) in texts.get(use.id, "")
        for message in later.node.messages
        for use in message.tool_uses
        if (use.name, canonical(use.input)) == call
    )


def accepted(trace: Trace) -> Iterator[Exchange]:
    """Yield the main and compact requests that the dialect accepts."""
    for exchange in trace.exchanges:
        if exchange.purpose != "aux" and not exchange.called.refused:
            yield exchange


def stored_elsewhere(trace: Trace, turn: Turn) -> str:
    """Under which other session a store keeps what is said in a turn, as where names of sessions
    become alike in the names of files; else ""."""
    said = {squeeze(turn.text), *(squeeze(ending.request.text) for ending in turn.endings)}
    for row in (row for look in trace.stored if look.n > turn.opened_n for row in look.added):
        text = trace.messages.get(row.digest, Message("user")).text
        if row.session not in ("", turn.session) and squeeze(text) in said:
            return f": the store has its words under the session {row.session}"
    return ""


def first_seen(trace: Trace) -> Iterator[tuple[Exchange, tuple[Node, ...]]]:
    """Yield each accepted request with the messages that no earlier accepted request had at that
    place."""
    seen: set[int] = set()
    for exchange in accepted(trace):
        fresh = tuple(takewhile(lambda node: id(node) not in seen, exchange.node.back()))
        seen.update(map(id, fresh))
        yield exchange, fresh[::-1]


def same_text(stored: str, said: str) -> bool:
    """Whether two texts are equal, or one contains the other, without regard to white space. What
    was said may have its signs written for HTML, as for a chat program, and be stored plain."""
    a, forms = squeeze(stored), {squeeze(said), squeeze(with_marks(said))}
    forms |= {squeeze(html.unescape(said))} if "&" in said else set()
    return any(a in b or b in a for b in forms if a and b)


def squeeze(text: str) -> str:
    """The text without white space and without halves of characters (raw, escaped or replaced),
    which an agent can neither store nor send."""
    joined = without_blanks(text)
    if joined.isascii() and "\\ud" not in joined:
        return joined
    whole = joined.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return HALVES.sub("", whole)


def says(node: Node, text: str) -> bool:
    """Whether the assistant says `text` in a list of messages; the search starts at the end."""
    return any(n.side == "assistant" and same_text(n.message.text, text) for n in node.back())


def may_be_stored(trace: Trace, turn: Turn, rows: Sequence[Placed]) -> int:
    """The number of rows that may keep the message: several if two sessions use one id and the
    rows name none. In the agent's own store, rows of later turns with equal words count too. So do
    rows of any session, if a row does not name its session."""
    if not trace.own_store:
        return max(1, *(may_keep(trace, placed.row, placed.message) for placed in rows))
    sessions = {placed.row.session for placed in rows}
    turns = (t for t in trace.turns.values() if t.delivery and {"", t.session} & sessions)
    texts = (text for t in turns for text in (t.text, *(each.inbound.text for each in t.joined)))
    return max(1, sum(same_text(text, turn.text) for text in texts))


def times_said(said: str, exchange: Exchange, *, anywhere: bool = False) -> int:
    """How often a request holds a text, without white space, after the last answer in it."""
    back = takewhile(
        lambda n: anywhere or n.side != "assistant" or n.message.tool_uses, exchange.node.back()
    )
    blocks = (block for node in back if node.side == "user" for block in node.message.blocks)
    texts = (squeeze(block.text) for block in blocks if isinstance(block, Text))
    return sum(text.count(said) for text in texts if said and not text.replace(said, ""))


def comes_again(turn: Turn, newest: str, answered: Answered) -> Iterator[Turn]:
    """Yield earlier answered turns of the session with a text that is part of the newest user
    text. It is of no message that came for this turn. A turn whose requests lack its own text has
    not read it."""
    whole, beside = f"\n\n{newest}\n\n", (*turn.waiting, *turn.came, *turn.joined)
    own = [turn.text, *(each.inbound.text for each in beside)]
    for paragraph in dict.fromkeys(paragraphs(newest)):
        for earlier, text in answered.get((turn.session, paragraph), ()):
            # Words of this turn's own message, or within a paragraph, do not make an earlier one.
            if any(text in said for said in own) or f"\n\n{text}\n\n" not in whole:
                continue
            if not earlier.readable or any(text in newest_text(e) for e in earlier.readable):
                yield earlier


def newest_text(exchange: Exchange) -> str:
    """The words of the user that a request ends with."""
    return "\n\n".join(message.text for message in exchange.node.newest())


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text."""
    return text.strip().split("\n\n")
