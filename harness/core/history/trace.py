"""The trace: the turns, compactions and calls of one run, in the vocabulary of the checks.

Each item has the events that it was read from. The trace judges nothing. `StoreDamage` separates
stored data from a fault's damage to closed files: rows gone, moved or doubled in the next look.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Literal, TypeAlias

import msgspec

from harness.core.history.event_log import Events, Named
from harness.core.history.events import (
    Answered,
    AnyEvent,
    Called,
    Ended,
    Killed,
    Started,
    Stored,
    StoredRow,
)
from harness.core.history.exchanges import Ask, Exchange, Execution, Question, Sending
from harness.core.values.calls import Inbound, Seam, StoreRequest
from harness.core.values.messages import Json, Message, with_marks, without_blanks
from harness.core.values.profile import NO_PROFILE, Profile, profile_of

Kept: TypeAlias = tuple[Stored, StoredRow, Message]
Change: TypeAlias = Literal["added", "changed"]


class Delivery(msgspec.Struct, frozen=True):
    """An inbound message as the agent got it, at event `n`."""

    inbound: Inbound
    n: int


class Turn(msgspec.Struct, eq=False):
    """One inbound message of a session, with its exchanges, runs, sendings and rows.

    `settled_n` is the event that closes the turn: the next look into the inbox, or the run's end; 0
    while it is open. `settled_by` is `next`, or how the run ended. A turn is a `redelivery` if its
    message came before and was answered or cancelled. `came` are the messages that came while it
    was open, `waiting` those that had come before it, and `joined` what it takes in of them. If a
    turn resumes one that a kill interrupted, `begun_n` is the event of the first delivery.
    `came_in` is the turn in which the same message came before. `store_failed`: the store refused a
    write for good, and the user was told before any success. `cancelled_n`: the agent learned of a
    cancel that came at `cancel_came_ms`; calls before `cancel_met_ms` may have crossed it.
    """

    session: str
    number: int
    opened_n: int
    delivery: Delivery | None = None
    came: list[Delivery] = msgspec.field(default_factory=list)
    waiting: list[Delivery] = msgspec.field(default_factory=list)
    joined: list[Delivery] = msgspec.field(default_factory=list)
    redelivery: bool = False
    exchanges: list[Exchange] = msgspec.field(default_factory=list)
    asks: list[Ask] = msgspec.field(default_factory=list)
    executions: list[Execution] = msgspec.field(default_factory=list)
    sendings: list[Sending] = msgspec.field(default_factory=list)
    limits: list[Answered] = msgspec.field(default_factory=list)
    unstored: dict[StoreRequest, int] = msgspec.field(default_factory=dict)
    cancelled_n: int = 0
    cancel_met_ms: int = 0
    cancel_came_ms: int = 0
    interrupted_n: int = 0
    store_failed: bool = False
    begun_n: int = 0
    came_in: Turn | None = None
    settled_n: int = 0
    settled_by: str = ""

    @property
    def main(self) -> tuple[Exchange, ...]:
        """The main exchanges, in order."""
        return tuple(e for e in self.exchanges if e.purpose == "main")

    @property
    def readable(self) -> tuple[Exchange, ...]:
        """The main exchanges with readable requests, for rules that need the words of a request."""
        return tuple(e for e in self.main if not e.request.unread)

    @property
    def endings(self) -> tuple[Sending, ...]:
        """The finals and errors that the outbox accepted."""
        return tuple(s for s in self.sendings if s.ends_turn)

    @property
    def text(self) -> str:
        """The user's text."""
        return self.delivery.inbound.text if self.delivery else ""

    @property
    def words(self) -> str:
        """The turn as findings name it."""
        return f"turn {self.number} of {self.session}"

    @property
    def earlier(self) -> Iterator[Turn]:
        """The turns in which its message came before, the newest first."""
        turn = self.came_in
        while turn is not None:
            yield turn
            turn = turn.came_in


class Compaction(msgspec.Struct, eq=False):
    """A compaction: its model calls (retries, or the parts of a conversation) or the agent's own
    notice.

    `before` and `after` are the main exchanges around it.
    """

    turn: Turn
    calls: list[Exchange] = msgspec.field(default_factory=list)
    notice: Sending | None = None
    before: Exchange | None = None
    after: Exchange | None = None

    @property
    def gone_on(self) -> Exchange | None:
        """The main exchange after it, if it belongs to the same turn."""
        after = self.after
        called = after.called if after else None
        same = called and (called.session, called.turn) == (self.turn.session, self.turn.number)
        return after if same else None

    @property
    def n(self) -> int:
        """The event of its beginning."""
        return self.calls[0].n if self.calls else self.notice.n if self.notice else 0

    @property
    def is_announced(self) -> bool:
        """Whether a notice came before its calls, so that another notice may report its end."""
        return bool(self.notice and self.calls and self.notice.n < self.calls[0].n)

    @property
    def failed(self) -> bool:
        """Whether its call brought no summary, or the agent reports that it uses none."""
        if self.notice and self.notice.request.status == "failed":
            return True
        last = self.calls[-1] if self.calls else None
        return last is not None and not (last.succeeded and last.reply and last.reply.text.strip())


class Trace(msgspec.Struct, eq=False):
    """One run, read. Lists are in the order of the events; `malformed` are digests.

    `kills` are the events at which the target was killed. `damages` are the events that show a
    fault's damage to the files of the store before it was opened. `received` maps the id of a
    message to its text by session, because two chats may use one id.
    """

    starts: list[Started] = msgspec.field(default_factory=list)
    kills: list[int] = msgspec.field(default_factory=list)
    ended: Ended | None = None
    exchanges: list[Exchange] = msgspec.field(default_factory=list)
    asks: list[Ask] = msgspec.field(default_factory=list)
    executions: list[Execution] = msgspec.field(default_factory=list)
    deliveries: list[Delivery] = msgspec.field(default_factory=list)
    questions: list[Question] = msgspec.field(default_factory=list)
    sendings: list[Sending] = msgspec.field(default_factory=list)
    stored: list[Stored] = msgspec.field(default_factory=list)
    compactions: list[Compaction] = msgspec.field(default_factory=list)
    answers: list[Answered] = msgspec.field(default_factory=list)
    turns: dict[tuple[str, int], Turn] = msgspec.field(default_factory=dict)
    received: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    messages: Named[Message] = msgspec.field(default_factory=dict)
    schemas: dict[str, dict[str, dict[str, Json]]] = msgspec.field(default_factory=dict)
    malformed: set[str] = msgspec.field(default_factory=set)
    damages: set[int] = msgspec.field(default_factory=set)
    events: Events = msgspec.field(default_factory=list[AnyEvent])

    @property
    def world(self) -> str:
        """`simulate`, `supervise` or `recording`; "" when the start is missing."""
        return self.starts[0].world if self.starts else ""

    @property
    def seams(self) -> frozenset[Seam]:
        """The seams of the target or the recording; a store that was read counts as one."""
        read: tuple[Seam, ...] = ("store",) if self.stored else ()
        return frozenset(read).union(*[start.seams for start in self.starts])

    @property
    def settings(self) -> dict[str, Json]:
        """The scenario's settings of checks, expectation and tools."""
        return self.starts[0].settings if self.starts else {}

    @property
    def half_written(self) -> str:
        """What the last kill left in a file of the agent, which has asked no model since."""
        last = self.events[self.kills[-1] - 1] if self.kills else None
        if not isinstance(last, Killed) or any(e.n > last.n for e in self.exchanges[-1:]):
            return ""
        return f"half a line in {last.half_file}" if last.half_file else ""

    @property
    def own_store(self) -> bool:
        """Whether the store is the agent's own. The harness reads it but does not see the writes.
        So the content at the end is known, but not the time of a write."""
        return bool(self.settings.get("own_store"))

    @property
    def is_open(self) -> bool:
        """Whether the script is open, which allows several policies."""
        return self.settings.get("policy") == "open"

    @property
    def profile(self) -> Profile:
        """The profile of the agent, from the command, the test or the configuration."""
        said = self.settings.get("profile")
        return profile_of(said) if said else NO_PROFILE

    def schema(self, exchange: Exchange | None, tool: str) -> dict[str, Json]:
        """The input schema of a tool as the request offered it, else the scenario's; {} if none."""
        offered = self.schemas.get(exchange.request.tools, {}) if exchange else {}
        known: dict[str, dict[str, Json]] = self.settings.get("tools", {})
        return offered.get(tool) or known.get(tool) or {}

    @property
    def offered(self) -> dict[str, dict[str, Json]]:
        """The input schemas of all tools that the requests offer, by name."""
        digests = dict.fromkeys(exchange.request.tools for exchange in self.exchanges)
        lists = (self.schemas.get(digest, {}) for digest in digests)
        return {name: schema for offered in lists for name, schema in offered.items()}

    @property
    def gets_ids(self) -> bool:
        """Whether the agent gets ids of messages. Behind an adapter, which declares that it has no
        outbox, it gets texts alone, and cannot tell a message that comes again."""
        return self.profile.declares("outbox") is not False

    @property
    def takes_tools(self) -> bool:
        """Whether the agent takes the tools of the scenario: one of them ran, or the agent listed
        them."""
        return bool(self.executions) or (self.ended is not None and not self.ended.tools_untaken)

    def is_own_tool(self, ask: Ask) -> bool:
        """Whether a call is to the agent's own tool with the name of a scenario tool. Such a tool
        is offered with other inputs, and the scenario's tool never ran."""
        offered = self.schemas.get(ask.exchange.request.tools, {}).get(ask.use.name)
        known: dict[str, Json] = self.settings.get("tools", {}).get(ask.use.name) or {}
        if offered is None or not known.get("properties"):
            return False
        others = offered.get("properties", {}).keys() != known["properties"].keys()
        return others and all(run.request.name != ask.use.name for run in self.executions)

    def rows_added(self, turn: Turn) -> Iterator[Kept]:
        """The rows of its session that were stored during the turn."""
        yield from self._rows_in(self.stored_during(turn), turn, "added")

    def rows_kept(self, turn: Turn, how: Change = "added") -> Iterator[Kept]:
        """The rows that may be the turn's. The agent's own store may show them until its end."""
        yield from self._rows_in(self.stored_during(turn), turn, how)
        if not self.own_store or not turn.settled_n:
            return
        gone = (n for n in (*(s.n for s in self.starts), *self.kills) if n > turn.settled_n)
        end_n = min(gone, default=len(self.events) + 1)
        late = (event for event in self.stored if turn.settled_n < event.n < end_n)
        yield from self._rows_in(late, turn, how)

    def _rows_in(self, looks: Iterable[Stored], turn: Turn, how: Change) -> Iterator[Kept]:
        for event in looks:
            for row in event.added if how == "added" else event.changed:
                message = self.messages.get(row.digest, Message("user"))
                if row.session in ("", turn.session) and _is_in(turn, event.n, row, message):
                    yield event, row, message

    def stored_during(self, turn: Turn) -> Iterator[Stored]:
        """The changes in the store during the turn. An agent that reads its inbox in a task beside
        the turn ends it later than it asks for the next message."""
        last = len(self.stored)
        if turn.settled_n:
            end_n = max((turn.settled_n, *(ending.n for ending in turn.endings)))
            last = bisect_right(self.stored, end_n, key=attrgetter("n"))
        first_n = turn.begun_n or turn.opened_n
        first_n = min(first_n, turn.delivery.n if turn.delivery else first_n)  # it may have waited
        for event in self.stored[bisect_left(self.stored, first_n, key=attrgetter("n")) : last]:
            if event.session in ("", turn.session):
                yield event


def _is_in(turn: Turn, n: int, row: StoredRow, message: Message) -> bool:
    """Whether a row of event `n` is the turn's, where messages waited in other turns."""
    own = (turn.delivery, *turn.joined) if turn.delivery else ()
    if own and n < turn.opened_n and n > own[0].n and not turn.begun_n:
        return _keeps(row, message, own)
    others = [each for each in (*turn.waiting, *turn.came) if each not in turn.joined]
    return not (others and _keeps(row, message, others)) or _keeps(row, message, own)


def _keeps(row: StoredRow, message: Message, deliveries: Sequence[Delivery]) -> bool:
    """Whether a row of the user keeps one of the messages."""
    if message.role != "user" or message.tool_results:
        return False
    if row.inbound:
        return any(row.inbound == each.inbound.id for each in deliveries)
    said = (without_blanks(with_marks(each.inbound.text)) for each in deliveries)
    return any(text and text in without_blanks(with_marks(message.text)) for text in said)


TurnName: TypeAlias = tuple[str, int]
"""A session and the number of one of its turns."""


class Child(msgspec.Struct, frozen=True):
    """A sub-agent: a session that names its parent in its first call, which is event `n`.

    Its work belongs to the turn in which that call was made. A session without a known parent is
    none. `root` is the user's turn that it works for; `depth` is the number of sessions above it.
    """

    session: str
    parent: str
    root: TurnName
    depth: int
    n: int


Family: TypeAlias = dict[str, Child]
"""The children of a run by session."""


def children(trace: Trace) -> Family:
    """The children of a run by session, in the order of their start."""
    found: Family = {}
    turns: dict[str, int] = {}
    for exchange in trace.exchanges:
        called = exchange.called
        parent, new = called.parent, called.session not in turns
        if new and parent in turns and parent != called.session:
            above = found.get(parent)
            root = above.root if above else (parent, turns[parent])
            depth = above.depth + 1 if above else 1
            found[called.session] = Child(called.session, parent, root, depth, called.n)
        turns[called.session] = called.turn
    return found


def root_turn(family: Family, event: Called | Answered) -> TurnName:
    """The user's turn that an event belongs to, as far as it was known at that event."""
    child = family.get(event.session)
    return child.root if child and child.n <= event.n else (event.session, event.turn)


class StoreDamage:
    """Tracks the store's openings and writes; `seen` holds the looks that show damage."""

    def __init__(self, seen: set[int]) -> None:
        self._seen = seen
        self._rows: dict[str, str] = {}
        self._opening = ""
        self._is_damaged = self._at_a_write = self._is_unkept = False

    def called(self, called: Called, request: StoreRequest) -> None:
        """Handle a call to the store."""
        if request.access == "open":
            self._opening = called.key

    def over(self) -> None:
        """Handle a call, or a new life: after it, changes in the store are the agent's own."""
        self._is_damaged = False

    def killed(self, event: Killed) -> None:
        """Handle a kill, which takes rows back: at a write to the agent's own files, or after a
        write that a fault only seemed to keep."""
        self._is_damaged = self._at_a_write = event.is_at_own_write or self._is_unkept
        self._is_unkept = False

    def answered(self, answered: Answered) -> None:
        """Handle the answer to an opening, which a fault may have changed, or to a write."""
        if answered.key == self._opening:
            self._is_damaged, self._at_a_write = bool(answered.faults), False
        elif answered.seam == "store" and answered.faults and answered.outcome == "ok":
            self._is_unkept = True

    def stored(self, event: Stored) -> Stored:
        """The current rows of the store, without rows that appear again only through damage."""
        if self._is_damaged:
            self._is_damaged = False
            self._seen.add(event.n)
            # A kill at a write doubles no row: an equal text, such as "Done.", may be a new one.
            if not self._at_a_write or event.gone or event.changed:
                known, laid = set(self._rows.values()), reversed(event.added)  # one text twice, too
                new = {row.digest: row for row in laid if row.digest not in known}
                event = msgspec.structs.replace(event, added=tuple(new.values())[::-1])
        self._rows |= {row.id: row.digest for row in (*event.added, *event.changed)}
        for row_id in event.gone:
            self._rows.pop(row_id, None)
        return event
