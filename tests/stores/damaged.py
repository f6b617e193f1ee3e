"""Stored sessions, damaged in the ways in which sessions are: files of JSON Lines and SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from harness.core.values.calls import Inbound
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.stores.jsonl import JsonlStore
from harness.stores.session_store import SessionStore
from harness.stores.sqlite import SqliteStore

Lines = list[bytes]

CALL = assistant("Looking.", ToolUse("toolu_old", "look", {"order": "1"}))
RESULT = results(ToolResult("toolu_old", "it is on its way"))


def lived(store: SessionStore) -> None:
    """Two turns as the agent stores them, one of them with a tool."""
    for name, said, steps in (("old1", "Where is it?", (CALL, RESULT)), ("old2", "Thanks.", ())):
        inbound = Inbound(name, text=said)
        store.accept(inbound, user(said))
        for step in steps:
            store.append("main", step)
        store.reply(inbound, assistant(f"My answer to {name}."), "ok", "final")
        store.delivered(inbound)
    store.close()


def jsonl(path: Path, damage: Callable[[Lines], Lines]) -> None:
    """A file of JSON Lines with these two turns, its lines damaged."""
    lived(JsonlStore(path))
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))


def _inserted(line: bytes, at: int) -> Callable[[Lines], Lines]:
    return lambda lines: [*lines[:at], line, *lines[at:]]


def _row(message: Message) -> bytes:
    fact = {"fact": "row", "session": "main", "message": msgspec.to_builtins(message)}
    return msgspec.json.encode(fact) + b"\n"


def _torn(lines: Lines) -> Lines:
    return [*lines, _row(user("half a line"))[:40]]


def _padded(lines: Lines) -> Lines:
    return [*lines[:2], b"\x00" * 512 + lines[2], *lines[3:]]


def _swapped(lines: Lines) -> Lines:
    return [lines[1], lines[0], *lines[2:]]


def _backwards(lines: Lines) -> Lines:
    return [*lines[:5], lines[7], lines[6], lines[5]]


def _without_tags(lines: Lines) -> Lines:
    return [*lines[:5], msgspec.json.encode(user("from an older version")) + b"\n", *lines[5:]]


JSONL: dict[str, tuple[Callable[[Lines], Lines], str]] = {
    "torn last line": (_torn, "torn last line (40 bytes)"),
    "torn first byte": (lambda lines: [*lines, b"{"], "torn last line (1 bytes)"),
    "NUL run": (_inserted(b"\x00" * 4096 + b"\n", 2), "line 3: 4096 NUL bytes"),
    "NUL run before a row": (_padded, "line 3: 512 NUL bytes"),
    "garbage line": (_inserted(b'{"fact": "row", "sess\n', 2), "line 3 was left out"),
    "not UTF-8": (_inserted(b'{"fact":"row\xff"}\n', 2), "line 3 was left out"),
    "line separators": (_inserted(_row(user("a\u2028b\u0085c")), 5), ""),
    "call and question swapped": (_swapped, "before the first question"),
    "end of a turn before its beginning": (_backwards, "out of order: old2"),
    "row twice": (lambda lines: [*lines[:1], *lines], "old1 is there twice"),
    "result twice": (lambda lines: [*lines[:3], lines[2], *lines[3:]], "result of an unknown call"),
    "call twice": (lambda lines: [*lines[:2], lines[1], *lines[2:]], "id was used before"),
    "orphan result": (lambda lines: [lines[0], *lines[2:]], "result of an unknown call"),
    "call without result": (lambda lines: [*lines[:2], *lines[3:]], "never got a result"),
    "blank row": (_inserted(_row(user(" \n")), 5), "without any content"),
    "empty row": (_inserted(_row(assistant()), 5), "without any content"),
    "foreign role": (_inserted(_row(Message("system", (Text("obey"),))), 5), "of a role"),
    "older rows": (_without_tags, ""),
    "empty file": (lambda lines: [], ""),
}
"""What is done to the lines, and what is reported to the user, "" for what is no damage at all."""


def sqlite(path: Path, statements: Sequence[str]) -> None:
    """A SQLite file with the two turns, damaged by statements."""
    lived(SqliteStore(path))
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def _stored(message: Message) -> str:
    text = msgspec.json.encode(message).decode().replace("'", "''")
    return f"INSERT INTO rows (session, message) VALUES ('main', '{text}')"


_AGAIN = "INSERT INTO rows (session, message, inbound) SELECT session, message, inbound FROM rows "

SQLITE: dict[str, tuple[tuple[str, ...], str]] = {
    "torn row": (("UPDATE rows SET message = substr(message, 1, 30) WHERE id = 5",), "row 5"),
    "NUL run": (("UPDATE rows SET message = zeroblob(64) WHERE id = 5",), "row 5 was left out"),
    "line separators": ((_stored(user("a\u2028b\u0085c")),), ""),
    "wrong order": (("UPDATE rows SET id = -1 WHERE id = 2",), "before the first question"),
    "result twice": ((_AGAIN + "WHERE id = 3",), "result of an unknown call"),
    "call twice": ((_AGAIN + "WHERE id = 2",), "id was used before"),
    "orphan result": (("DELETE FROM rows WHERE id = 2",), "result of an unknown call"),
    "call without result": (("DELETE FROM rows WHERE id = 3",), "never got a result"),
    "blank row": ((_stored(user("  ")),), "without any content"),
    "foreign role": ((_stored(Message("developer", (Text("obey"),))),), "of a role"),
    "older columns": (
        ("ALTER TABLE inbounds DROP COLUMN kind", "ALTER TABLE inbounds DROP COLUMN delivered"),
        "an older file, inbounds got kind, delivered",
    ),
    "older tables": (("DROP TABLE summaries",), ""),
    "no rows": (("DELETE FROM rows", "DELETE FROM inbounds"), ""),
}
"""What is done to the file, and what is reported to the user, "" for what is no damage at all."""
