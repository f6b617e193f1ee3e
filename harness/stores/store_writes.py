"""The writes of a session store, one by one, and what of them a kill may not lose.

Each write has three moments: `before`; `inside`, when all is said and nothing counts; `after`, when
it counts and its caller does not know yet. An acknowledged row is owed once, after a kill of any
kind. These rows stand beside the history, which holds only what a later look found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Self

import msgspec

from harness.core.history.events import StoredRow
from harness.core.values.messages import Message, digest
from harness.stores.session_facts import facts_of
from harness.stores.session_store import SessionStore

Moment = Literal["before", "inside", "after"]
MOMENTS: tuple[Moment, ...] = ("before", "inside", "after")

WRITES = frozenset(facts_of)
"""The methods of a session store that write."""

Tell = Callable[[str, Moment], None]
Acknowledge = Callable[[str, tuple[Any, ...], Any], None]


class WatchedStore:
    """A session store in which `tell(write, moment)` is called at each moment of each write.

    `acknowledged(write, arguments, result)` follows once the write is over. The writer gets the
    exceptions that these two raise.
    """

    def __init__(self, store: SessionStore, tell: Tell, acknowledged: Acknowledge) -> None:
        self._store, self._tell, self._acknowledged = store, tell, acknowledged

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._watched(name, found) if name in WRITES else found

    def _watched(self, name: str, write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self._tell(name, "before")
            self._store.at_commit = lambda: self._tell(name, "inside")
            result = write(*arguments)
            self._tell(name, "after")
            self._acknowledged(name, arguments, result)
            return result

        return call


class Acknowledged(msgspec.Struct, frozen=True):
    """A write that returned: a row by its id and digest, or an inbound message that was taken in.

    An id alone would not do: a store that lost a row gives its id to the next.
    """

    row: str = ""
    digest: str = ""
    inbound: str = ""
    session: str = ""

    @classmethod
    def of(cls, name: str, arguments: tuple[Any, ...], result: Any) -> Self | None:
        """What a write of a session store acknowledges; None for one that adds no row."""
        if name in ("append", "reply"):
            return cls(row=str(result), digest=digest(arguments[1]))
        if name == "accept" and result:
            return cls(inbound=arguments[0].id, session=arguments[0].session)
        return None


class WriteAudit(msgspec.Struct, frozen=True):
    """What of the acknowledged rows is `lost`, and what the store holds twice, in words."""

    acknowledged: int
    lost: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()


def audit_writes(
    acknowledged: Sequence[Acknowledged], rows: Sequence[tuple[StoredRow, Message]]
) -> WriteAudit:
    """What a store kept of the writes that it acknowledged."""
    ids = {(row.id, row.digest) for row, _ in rows}
    inbounds = {row.inbound for row, _ in rows if row.inbound}
    lost = tuple(_lost(acknowledged, ids, inbounds))
    return WriteAudit(len(acknowledged), lost, tuple(_twice(rows)))


def _lost(
    acknowledged: Iterable[Acknowledged], ids: set[tuple[str, str]], inbounds: set[str]
) -> Iterator[str]:
    for said in acknowledged:
        if said.row and (said.row, said.digest) not in ids:
            yield f"the row {said.row}"
        if said.inbound and said.inbound not in inbounds:
            yield f"the inbound message {said.inbound}"


def _twice(rows: Sequence[tuple[StoredRow, Message]]) -> Iterator[str]:
    """The inbound messages, calls and results that occur more than once."""
    found: Counter[str] = Counter()
    for row, message in rows:
        found.update([f"the inbound message {row.inbound}"] if row.inbound else [])
        found.update(f"the call {use.id}" for use in message.tool_uses)
        found.update(f"the result of {result.id}" for result in message.tool_results)
    return (name for name, times in found.items() if times > 1)
