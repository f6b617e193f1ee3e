"""pydantic-ai with its defaults. `connected` keeps its conversations in the run's folder: the
framework ships a store in memory alone, and a page on what a store of one's own implements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic_ai import Agent
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)

from harness.adapters import pydantic_ai


class Answer(BaseModel):
    """A structured output."""

    city: str


agent = Agent()
structured = pydantic_ai(Agent(output_type=Answer))


_RECORD, _ENTRY = TypeAdapter(ConversationRecord), TypeAdapter(ConversationEntry)


class SqliteStore(ConversationStore):
    """A row a record and a row an entry; what a save adds is one transaction."""

    def __init__(self, folder: Path) -> None:
        self._base = sqlite3.connect(folder / "conversations.db", check_same_thread=False)
        for table in ("records", "entries"):
            self._base.execute(f"create table if not exists {table} (id text primary key, value)")

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        found = self._value("records", conversation_id)
        return found and _RECORD.validate_json(found)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        return _ENTRY.validate_json(self._value("entries", entry_id))

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        stored = await self.read_record(record.conversation_id)
        if (stored.revision if stored else None) != expected_revision:
            raise ConversationConflict(record.conversation_id)
        put = "insert or replace into {} values (?, ?)"
        with self._base:
            for entry in new_entries:
                self._base.execute(put.format("entries"), (entry.id, _ENTRY.dump_json(entry)))
            row = (record.conversation_id, _RECORD.dump_json(record))
            self._base.execute(put.format("records"), row)

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> list[ConversationRecord]:
        rows = self._base.execute("select value from records").fetchall()
        return [_RECORD.validate_json(value) for (value,) in rows][:limit]

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        with self._base:
            self._base.execute("delete from records where id = ?", (conversation_id,))

    def _value(self, table: str, id: str) -> Any:
        row = self._base.execute(f"select value from {table} where id = ?", (id,)).fetchone()
        return row and row[0]


connected = pydantic_ai(agent, SqliteStore, helper=Agent())
