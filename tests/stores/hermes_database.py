"""hermes databases as two versions of it lay them out, for the tests that read them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

_OLD = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, system_prompt TEXT,
    parent_session_id TEXT, started_at REAL NOT NULL, end_reason TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
    timestamp REAL NOT NULL, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT);
"""
_NEW = """
ALTER TABLE messages ADD COLUMN platform_message_id TEXT;
ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
"""
CALLS = json.dumps(
    [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
)


def create(path: Path, new: bool = True) -> sqlite3.Connection:
    """A database in WAL mode with one session and no messages."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA synchronous=OFF")
    db.execute("PRAGMA journal_mode=WAL")
    db.executescript(_OLD + (_NEW if new else ""))
    db.execute(
        "INSERT INTO sessions (id, source, model, system_prompt, started_at)"
        " VALUES ('s1', 'telegram', 'm', 'be kind', 1.0)"
    )
    return db


def add(db: sqlite3.Connection, role: str, content: Any = None, **more: Any) -> None:
    """Store a message, with other columns than role and content."""
    row = {"session_id": "s1", "role": role, "content": content, "timestamp": 1.0, **more}
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO messages ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def add_turn(db: sqlite3.Connection) -> None:
    """A turn with one tool call."""
    add(db, "user", "go")
    add(db, "assistant", None, tool_calls=CALLS, finish_reason="tool_calls")
    add(db, "tool", "a.py", tool_call_id="c1", tool_name="ls")
    add(db, "assistant", "done", finish_reason="stop")
