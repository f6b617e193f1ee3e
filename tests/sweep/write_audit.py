"""What of a session store's writes a kill may not lose.

An acknowledged row is owed once, after a kill of any kind. These rows stand beside the history,
which holds only what a later look found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import msgspec

from harness.core.history.events import StoredRow
from harness.core.values.messages import Message, digest


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
