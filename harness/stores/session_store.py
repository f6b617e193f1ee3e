"""What every session store keeps, and the promises that it makes.

A row is never changed or removed. A summary stands beside them and names the row from which the
history begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol
from urllib.parse import unquote

import msgspec

from harness.core.history.events import StoredRow
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, digest


class SessionRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stored message: `id` is its identity in the store, `inbound` the message it keeps.

    The summary that may open a history is not a row: its `id` is empty.
    """

    id: str
    message: Message
    inbound: str = ""


class Pending(msgspec.Struct, frozen=True, omit_defaults=True):
    """An inbound message whose turn is not over: unanswered, or answered and not delivered.

    `attempts` counts how often its turn was begun, the first time with its acceptance. `reply` is
    None until a reply is stored.
    """

    inbound: Inbound
    attempts: int = 1
    reply: str | None = None
    status: str = ""
    kind: str = ""


class SessionStore(Protocol):
    """An agent's store. Every method that writes has written durably when it returns.

    `notes` says, in words, what of the stored session could not be read. `at_commit` is called in
    every write once all of it is said and nothing of it counts yet: the moment in which a kill
    must leave the store as it was.
    """

    name: str
    notes: list[str]
    at_commit: Callable[[], None]

    def seed(self, session: str, messages: Iterable[Message]) -> None:
        """Store messages of the past; nothing is answered or delivered for them."""

    def accept(self, inbound: Inbound, message: Message) -> bool:
        """Store an inbound message once: its row and its id in one write.

        False when this session has taken in a message of that id before; then nothing is written.
        """

    def append(self, session: str, message: Message, inbound: str = "") -> str:
        """Store a row and return its id. `inbound` is only noted, not checked."""

    def begin(self, inbound: Inbound) -> int:
        """Count that the turn of an accepted message begins again; how often it has begun now."""

    def reply(self, inbound: Inbound, message: Message, status: str, kind: str) -> str:
        """Store the reply to an accepted message, in one write with the fact that it is one."""

    def delivered(self, inbound: Inbound) -> None:
        """Note that the reply has left."""

    def pending(self) -> Sequence[Pending]:
        """The accepted messages whose turns are not over, in order of arrival."""

    def summarise(self, session: str, summary: Message, first: str) -> None:
        """From now on the session's history is `summary`, then the rows from the row `first` on."""

    def load(self, session: str) -> list[SessionRow]:
        """The session's history: its last summary, if any, then the rows it does not cover."""

    def rows(self, session: str) -> list[SessionRow]:
        """Every row of the session, summarised or not."""

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row of every session in order, as the harness reads a store."""

    def close(self) -> None:
        """Let go of the file."""


def no_commit_hook() -> None:
    """The `at_commit` of a store that no one watches."""


def history_rows(
    rows: Iterable[SessionRow], summary: tuple[Message, str] | None
) -> list[SessionRow]:
    """The history that `load` returns, from all rows and the last summary with its first row."""
    rows = list(rows)
    if summary is None:
        return rows
    message, first = summary
    start = next((i for i, row in enumerate(rows) if row.id == first), len(rows))
    return [SessionRow("", message), *rows[start:]]


def stored_row(
    id: str, message: Message, inbound: str = "", session: str = ""
) -> tuple[StoredRow, Message]:
    """A row in the form of `Store.read`; `inbound` is the id of the inbound message it keeps,
    `session` the name of its session where the store tells it."""
    return StoredRow(id, digest(message), inbound, session), message


_QUOTED = re.compile(r"[\w.~!'()*-]*(?:%[0-9A-F]{2}[\w.~!'()*-]*)+", re.ASCII)


def session_of(name: str) -> str:
    """The session of a file by its name, which is quoted where the session's has a slash."""
    return unquote(name) if _QUOTED.fullmatch(name) else name


def store_rows(rows: Iterable[SessionRow]) -> list[tuple[StoredRow, Message]]:
    """Rows of a session store in the form of `Store.read`."""
    return [stored_row(row.id, row.message, row.inbound) for row in rows]
