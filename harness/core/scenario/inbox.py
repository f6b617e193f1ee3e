"""Which inbound message is due: a function of the scenario, the past and the time.

Messages come in file order. One that waits for a time or a call does not block later ones. Where
time costs nothing, a user takes a while for the next message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from harness.core.history.past import MessageName, Past
from harness.core.scenario.scenario import After, AtMs, InboxItem
from harness.core.values.calls import Inbound
from harness.core.values.draws import Draws
from harness.core.values.errors import InputError


class Entry(msgspec.Struct, frozen=True):
    """An inbound message and its condition; `delivery` counts the deliveries of its id in its
    session, from 1."""

    inbound: Inbound
    delivery: int = 1
    ms: int | None = None
    after: str | None = None
    idle: bool = True


def entries(items: Sequence[InboxItem]) -> tuple[Entry, ...]:
    """The inbox of a scenario, with generated ids (`m1`, `m2`, …) for messages without one.

    Raises InputError for a `when` that is neither `{ms: N}` nor `{after: KEY}`.
    """
    named = {item.id for item in items}
    made = [_entry(item, _id(item, n, len(items), named)) for n, item in enumerate(items, start=1)]
    seen: Counter[MessageName] = Counter()
    for place, entry in enumerate(made):
        seen[_name(entry)] += 1
        made[place] = msgspec.structs.replace(entry, delivery=seen[_name(entry)])
    return tuple(made)


def _id(item: InboxItem, number: int, step: int, named: set[str]) -> str:
    while not item.id and f"m{number}" in named:
        number += step
    return item.id or f"m{number}"


def _entry(item: InboxItem, name: str) -> Entry:
    inbound = Inbound(name, item.session, item.text, item.kind, attributes=item.attributes)
    if isinstance(item.when, str):
        return Entry(inbound, idle=item.when == "idle")
    try:
        if "after" in item.when:
            after = msgspec.convert(item.when, type=After).after
            return Entry(inbound, after=after, idle=False)
        return Entry(inbound, ms=msgspec.convert(item.when, type=AtMs).ms, idle=False)
    except msgspec.ValidationError as error:
        raise InputError(f"inbox message {inbound.id}: when: {error}") from None


class Inbox:
    """The entries of a run in file order.

    A search skips the delivered front, so its cost depends only on the waiting entries. A kill may
    undo a delivery; then the search begins at the front again.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        self.cancels = tuple(e for e in self.entries if e.inbound.kind != "message")
        self._names = frozenset(map(_name, self.entries))
        self._first = self._taken_back = 0

    def pending(self, past: Past) -> Iterator[Entry]:
        """The entries that were not delivered yet."""
        if self._taken_back != (total := past.taken_back.total()):
            self._first, self._taken_back = 0, total
        for place in range(self._first, len(self.entries)):
            if _is_pending(self.entries[place], past):
                yield self.entries[place]
            elif place == self._first:
                self._first += 1

    def undone(self, past: Past) -> Inbound | None:
        """A message of a fault whose delivery a kill undid: it comes again as any other one."""
        made = {id_ for _, id_ in past.comes_again - self._names}
        if not made:  # a session may have 10,000 messages, and each delivery asks
            return None
        found = (value for (_, id_), value in past.inbounds.items() if id_ in made)
        return next((msgspec.convert(value, Inbound) for value in found), None)


def _is_pending(entry: Entry, past: Past) -> bool:
    return past.delivered.get(_name(entry), 0) < entry.delivery


def _name(entry: Entry) -> MessageName:
    return entry.inbound.session, entry.inbound.id


def due(inbox: Inbox, past: Past, now_ms: int, busy: bool, cancels: bool = True) -> Entry | None:
    """The first message that can be delivered now.

    Without `cancels`, a cancel of a turn that may continue is left out, because its worker asks for
    it.
    """
    waiting = _waiting(inbox, past, cancels)
    return next((e for e in waiting if _is_due(e, past, now_ms, busy)), None)


def due_cancel(inbox: Inbox, past: Past, now_ms: int, session: str) -> Entry | None:
    """The first cancel or disconnect that reaches a session in the middle of its turn."""
    meant = (e for e in inbox.cancels if e.inbound.session == session and _is_pending(e, past))
    return next((e for e in meant if _is_due(e, past, now_ms, busy=True)), None)


def sent(entry: Entry) -> Inbound:
    """A cancel as an agent that asks for it gets it: one with a time was sent then, not now."""
    came = entry.inbound
    return came if entry.ms is None else msgspec.structs.replace(came, at_ms=entry.ms)


def next_ms(inbox: Inbox, past: Past, cancels: bool = True) -> int | None:
    """The time of the next timed message in milliseconds; None if none is pending."""
    waiting = _waiting(inbox, past, cancels)
    return min((e.ms for e in waiting if e.ms is not None), default=None)


def _waiting(inbox: Inbox, past: Past, cancels: bool) -> Iterator[Entry]:
    pending = inbox.pending(past)
    return pending if cancels else (e for e in pending if not _cancels_running(e, past))


def _cancels_running(entry: Entry, past: Past) -> bool:
    """Whether it cancels a turn that may continue."""
    inbound = entry.inbound
    return inbound.kind != "message" and not entry.idle and past.goes_on(inbound.session)


def never_due(inbox: Inbox, past: Past, at_ms: int) -> Iterator[Entry]:
    """Yield the entries that were not delivered by the end of a run. A cancel counts only if its
    moment never came, because an agent may have no way to receive one. The run does not wait for a
    turn that may continue, so the time of its cancel may pass after the run; nor for one that
    seemed to continue when the harness ended the inbox, as behind a message that comes again."""
    for entry in inbox.pending(past):
        is_cancel = entry.inbound.kind != "message"
        if entry.ms is not None and is_cancel and past.inbox_ended:
            continue
        if entry.ms is not None and _cancels_running(entry, past):
            continue
        joins = past.profile.inbound_policy(entry.inbound.session) not in (None, "queue")
        if joins and entry.after is not None and not past.is_answered(entry.after):
            continue  # by its policy the agent makes fewer calls
        if entry.inbound.kind == "message" or not _is_due(entry, past, at_ms, busy=True):
            yield entry


def _is_due(entry: Entry, past: Past, now_ms: int, busy: bool) -> bool:
    if entry.ms is not None:
        return now_ms >= entry.ms
    if entry.after is not None:
        return past.is_answered(entry.after)
    return not busy if entry.idle else True


PAUSE_MS = (1_000, 30_000)
"""The shortest and the longest pause of a user on virtual time between an answer and the next
message. Without it a clock in the system text, a time as a key and a deadline that runs on over
turns pass: time would stand still between messages."""


def user_pause_ms(past: Past, draws: Draws, inbound: Inbound) -> int:
    """How long the user takes for a message; the first one opens the run, and one that comes again
    after a kill has been written long since."""
    if not past.delivered or (inbound.session, inbound.id) in past.inbounds:
        return 0
    return draws.random("pause", str(past.calls["inbox"])).randint(*PAUSE_MS)
