"""hermes' `state.db`, read while the agent runs, and never written.

The agent keeps the database in WAL mode, so its last writes stand in `state.db-wal`. Read-only mode
sees them and may leave an index (`-shm`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from harness.core.history.events import StoredRow
from harness.core.transition.ports import Store
from harness.core.values.messages import Json, Message
from harness.recordings.readers import hermes as log
from harness.stores.plain_tables import PlainTables, opened
from harness.stores.session_store import stored_row


def hermes(path: Path) -> Store:
    """The database of a hermes agent."""
    return HermesStore(path)


class HermesStore:
    """A `Store` over the database of a hermes agent; a file that is not there is empty.

    A row's id is the database's, and the inbound message is that of the platform.
    """

    name = "hermes"

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)
        self._seen: dict[tuple[Json, ...], tuple[StoredRow, Message]] = {}

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every active row of every session in order. What has not changed since the last time is
        not read again, for the harness looks before every call. Raises InputError for a file that
        is not a database."""
        if not self._path.exists() or not self._path.stat().st_size:
            return []
        with opened(self._path, live=True) as db:
            tables = PlainTables(db)
            if not tables.columns("messages"):
                return []
            found = {tuple(row.values()): row for row in log.rows(tables) if log.is_active(row)}
        self._seen = {raw: self._seen.get(raw) or _stored(row) for raw, row in found.items()}
        return list(self._seen.values())


def _stored(row: Mapping[str, Json]) -> tuple[StoredRow, Message]:
    message = log.message(row)
    inbound = row.get("platform_message_id")
    kept = inbound if isinstance(inbound, str) and message.role == "user" else ""
    return stored_row(str(row["id"]), message, kept)
