"""A session store in one JSON Lines file: a line is a fact, and a fact is never taken back.

Each line is written whole and synced before the call returns. A kill may leave a torn last line,
never acknowledged: the next write cuts it off. A line damaged elsewhere is left out and named in
`notes`. Only `\\n` ends a line, because U+2028 may stand inside a message.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from os import PathLike, fspath
from typing import Any

import msgspec

from harness.core.history.events import StoredRow
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from harness.stores.session_facts import (
    BeginFact,
    DeliveryFact,
    Fact,
    RowFact,
    SummaryFact,
    decode,
    encode,
    facts_of,
)
from harness.stores.session_store import (
    Pending,
    SessionRow,
    history_rows,
    no_commit_hook,
    store_rows,
)


class Disk:
    """The machine's own disk."""

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of the data. Raises OSError, and then a part of it may be written."""
        while data:
            data = data[os.write(descriptor, data) :]

    def sync(self, descriptor: int) -> None:
        """Return when what was written outlives a failure of the machine."""
        os.fsync(descriptor)


_Key = tuple[str, str]


class JsonlStore:
    """A `SessionStore` on JSON Lines, for one writing process.

    `notes` says, in words, what in the file could not be read.
    """

    name = "jsonl"

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = fspath(path)
        self._lock = threading.RLock()
        self._read_bytes = self._lines = 0
        self._rows: list[tuple[str, SessionRow]] = []
        self._pending: dict[_Key, Pending] = {}
        self._known: set[_Key] = set()
        self._summaries: dict[str, tuple[Message, str]] = {}
        self.notes: list[str] = []
        self.at_commit: Callable[[], None] = no_commit_hook
        self.disk = Disk()
        self._over: set[_Key] = set()
        self._refresh()
        size_bytes = os.path.getsize(self._path) if os.path.exists(self._path) else 0
        if torn_bytes := size_bytes - self._read_bytes:
            self._note(f"the torn last line ({torn_bytes} bytes) was left out")

    def _refresh(self) -> None:
        with self._lock:
            if not os.path.exists(self._path):
                return
            with open(self._path, "rb") as file:
                file.seek(self._read_bytes)
                added = file.read()
            whole = added[: added.rfind(b"\n") + 1]
            self._read_bytes += len(whole)
            for line in whole.split(b"\n")[:-1]:
                self._take_line(line)

    def _note(self, what: str) -> None:
        self.notes.append(f"{os.path.basename(self._path)}: {what}")

    def _take_line(self, line: bytes) -> None:
        self._lines += 1
        bare = line.strip(b"\x00")
        if bare != line:
            self._note(f"line {self._lines}: {len(line) - len(bare)} NUL bytes were left out")
        if not bare.strip():
            return
        try:
            fact = decode(bare)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._note(f"line {self._lines} was left out: {error}")
        else:
            self._take(fact)

    def _take(self, fact: Fact) -> None:
        match fact:
            case RowFact():
                self._take_row(fact)
            case BeginFact(session, inbound) if (session, inbound) in self._pending:
                turn = self._pending[session, inbound]
                self._pending[session, inbound] = msgspec.structs.replace(
                    turn, attempts=turn.attempts + 1
                )
            case DeliveryFact(session, inbound):
                self._over.add((session, inbound))
                self._pending.pop((session, inbound), None)
            case SummaryFact(session, message, first):
                self._summaries[session] = (message, first)

    def _take_row(self, fact: RowFact) -> None:
        if fact.accepted is not None and (fact.session, fact.accepted.id) in self._known:
            self._note(f"line {self._lines} was left out: {fact.accepted.id} is there twice")
            return
        row = SessionRow(str(self._lines), fact.message, fact.inbound)
        self._rows.append((fact.session, row))
        if fact.accepted is not None:
            self._accept(fact.session, fact.accepted)
        turn = self._pending.get((fact.session, fact.reply_to))
        if turn is not None:
            self._pending[fact.session, fact.reply_to] = msgspec.structs.replace(
                turn, reply=fact.message.text, status=fact.status, kind=fact.kind
            )

    def _accept(self, session: str, inbound: Inbound) -> None:
        """Take a message in. One whose turn is already over is misplaced and owed nothing."""
        self._known.add((session, inbound.id))
        if (session, inbound.id) not in self._over:
            self._pending[session, inbound.id] = Pending(inbound, attempts=1)
        else:
            self._note(f"line {self._lines} is out of order: {inbound.id} was answered before it")

    def _write(self, *facts: Fact) -> None:
        """Append facts after the last whole line, durably, and take them in."""
        data = b"".join(map(encode, facts))
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._cut_torn_line(descriptor)
            os.lseek(descriptor, self._read_bytes, os.SEEK_SET)
            self._put(descriptor, data)
        finally:
            os.close(descriptor)
        self._refresh()

    def _add(self, method: str, *arguments: Any) -> None:
        with self._lock:
            self._refresh()
            self._write(*facts_of[method](*arguments))

    def _put(self, descriptor: int, data: bytes) -> None:
        """Write and sync, or take back what was written: a write that fails has not happened."""
        try:
            self.disk.write(descriptor, data)
            self.at_commit()
            self.disk.sync(descriptor)
        except BaseException:
            with suppress(OSError):  # then it is a torn line, which the next write cuts off
                self._cut_torn_line(descriptor)
            raise

    def _cut_torn_line(self, descriptor: int) -> None:
        torn_bytes = os.fstat(descriptor).st_size - self._read_bytes
        if torn_bytes > 0:
            os.ftruncate(descriptor, self._read_bytes)

    def seed(self, session: str, messages: Iterable[Message]) -> None:
        """Store messages of the past."""
        self._add("seed", session, messages)

    def accept(self, inbound: Inbound, message: Message) -> bool:
        """Store an inbound message once; False when its id is known by now."""
        with self._lock:
            self._refresh()
            if (inbound.session, inbound.id) in self._known:
                return False
            self._write(*facts_of["accept"](inbound, message))
            return self._rows[-1][1].id == str(self._lines)

    def append(self, session: str, message: Message, inbound: str = "") -> str:
        """Store a row and return its id."""
        with self._lock:
            self._add("append", session, message, inbound)
            return self._rows[-1][1].id

    def begin(self, inbound: Inbound) -> int:
        """Count that the turn of an accepted message begins again."""
        with self._lock:
            self._add("begin", inbound)
            return self._pending[inbound.session, inbound.id].attempts

    def reply(self, inbound: Inbound, message: Message, status: str, kind: str) -> str:
        """Store the reply to an accepted message."""
        with self._lock:
            self._add("reply", inbound, message, status, kind)
            return self._rows[-1][1].id

    def delivered(self, inbound: Inbound) -> None:
        """Note that the reply has left."""
        self._add("delivered", inbound)

    def pending(self) -> Sequence[Pending]:
        """The accepted messages whose turns are not over."""
        self._refresh()
        return list(self._pending.values())

    def summarise(self, session: str, summary: Message, first: str) -> None:
        """The session's history begins with `summary` and the row `first` from now on."""
        self._add("summarise", session, summary, first)

    def load(self, session: str) -> list[SessionRow]:
        """The session's history, from its last summary on."""
        return history_rows(self.rows(session), self._summaries.get(session))

    def rows(self, session: str) -> list[SessionRow]:
        """Every row of the session."""
        self._refresh()
        return [row for of, row in self._rows if of == session]

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row of every session in order."""
        self._refresh()
        return store_rows(row for _, row in self._rows)

    def close(self) -> None:
        """Nothing is held open between writes."""
