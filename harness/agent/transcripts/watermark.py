"""How far a transcript has come: the row of the store that it ends with, by identity.

A number of rows would be a cursor into a list whose rows are not all counted alike: reasoning,
summaries and messages in the middle of a turn shift it. Rows that are missing from a transcript may
follow an answer only; behind anything else nobody knows what belongs together, and then the store
tells the history. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.values.messages import digest
from harness.stores.session_store import SessionRow


class Watermark(msgspec.Struct, frozen=True):
    """The last row of a transcript: its id, and the digest of what it says, for a store that was
    made anew gives the same ids to other rows. `file` is the digest of the transcript's bytes."""

    row: str = ""
    message: str = ""
    file: str = ""


def at_end(rows: Sequence[SessionRow], data: bytes) -> Watermark:
    """The mark of a transcript that ends where the rows end."""
    return Watermark(rows[-1].id, digest(rows[-1].message), digest(data.decode()))


def gap(rows: Sequence[SessionRow], mark: Watermark) -> list[SessionRow] | None:
    """The rows that a transcript has not got; None when they cannot be put behind it."""
    for place, row in enumerate(rows):
        if row.id == mark.row:
            fits = row.message.role == "assistant" and digest(row.message) == mark.message
            return list(rows[place + 1 :]) if fits else None
    return None
