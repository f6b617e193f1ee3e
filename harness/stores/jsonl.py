"""A session store in one JSON Lines file: a line is a fact, and a fact is never taken back.

Each line is written whole and synced before the call returns. A process that is killed may leave a
torn last line: it was never acknowledged, so the next write cuts it off. Damage elsewhere is not
ours to hide: the line is left out and named in `notes`. Lines end at `\\n` and nowhere else, for
U+2028 and its like may stand inside a message.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from os import PathLike, fspath

import msgspec

from harness.core.calls import Inbound
from harness.core.events import StoredRow
from harness.core.messages import Message
from harness.stores.rows import Pending, SessionRow, as_read, told

_Key = tuple[str, str]


class _RowFact(msgspec.Struct, frozen=True, tag="row", tag_field="fact", omit_defaults=True):
    """A row. `accepted` makes it an inbound message; `reply_to` makes it that message's reply."""

    session: str
    message: Message
    inbound: str = ""
    accepted: Inbound | None = None
    reply_to: str = ""
    status: str = ""
    kind: str = ""


class _Begun(msgspec.Struct, frozen=True, tag="begun", tag_field="fact"):
    session: str
    inbound: str


class _Delivered(msgspec.Struct, frozen=True, tag="delivered", tag_field="fact"):
    session: str
    inbound: str


class _Summarised(msgspec.Struct, frozen=True, tag="summary", tag_field="fact"):
    session: str
    message: Message
    first: str


_Fact = _RowFact | _Begun | _Delivered | _Summarised
_decoder = msgspec.json.Decoder(_Fact)


class JsonlStore:
    """`rows.SessionStore` on JSON Lines, for one writing process.

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
        self._refresh()

    def _refresh(self) -> None:
        """Take in the whole lines that were added since the last look."""
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

    def _take_line(self, line: bytes) -> None:
        self._lines += 1
        if not line.strip():
            return
        try:
            fact = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.notes.append(f"{self._path}: line {self._lines} was left out: {error}")
        else:
            self._take(fact)

    def _take(self, fact: _Fact) -> None:
        match fact:
            case _RowFact():
                self._take_row(fact)
            case _Begun(session, inbound) if (session, inbound) in self._pending:
                turn = self._pending[session, inbound]
                self._pending[session, inbound] = msgspec.structs.replace(
                    turn, attempts=turn.attempts + 1
                )
            case _Delivered(session, inbound):
                self._pending.pop((session, inbound), None)
            case _Summarised(session, message, first):
                self._summaries[session] = (message, first)

    def _take_row(self, fact: _RowFact) -> None:
        row = SessionRow(str(self._lines), fact.message, fact.inbound)
        self._rows.append((fact.session, row))
        if fact.accepted is not None:
            self._known.add((fact.session, fact.accepted.id))
            self._pending[fact.session, fact.accepted.id] = Pending(fact.accepted, attempts=1)
        turn = self._pending.get((fact.session, fact.reply_to))
        if turn is not None:
            self._pending[fact.session, fact.reply_to] = msgspec.structs.replace(
                turn, reply=fact.message.text, status=fact.status, kind=fact.kind
            )

    def _write(self, *facts: _Fact) -> None:
        """Append facts behind the last whole line, durably, and take them in."""
        data = b"".join(msgspec.json.encode(fact) + b"\n" for fact in facts)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            self._cut_torn_line(descriptor)
            os.lseek(descriptor, self._read_bytes, os.SEEK_SET)
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._refresh()

    def _cut_torn_line(self, descriptor: int) -> None:
        torn_bytes = os.fstat(descriptor).st_size - self._read_bytes
        if torn_bytes > 0:
            self.notes.append(f"{self._path}: a torn last line ({torn_bytes} bytes) was cut off")
            os.ftruncate(descriptor, self._read_bytes)

    def seed(self, session: str, messages: Iterable[Message]) -> None:
        """Store messages of the past."""
        with self._lock:
            self._refresh()
            self._write(*(_RowFact(session, message) for message in messages))

    def accept(self, inbound: Inbound, message: Message) -> bool:
        """Store an inbound message once; False when its id is known."""
        with self._lock:
            self._refresh()
            if (inbound.session, inbound.id) in self._known:
                return False
            self._write(_RowFact(inbound.session, message, inbound.id, accepted=inbound))
            return True

    def append(self, session: str, message: Message, inbound: str = "") -> str:
        """Store a row and return its id."""
        return self._append(_RowFact(session, message, inbound))

    def _append(self, fact: _RowFact) -> str:
        with self._lock:
            self._refresh()
            self._write(fact)
            return self._rows[-1][1].id

    def begin(self, inbound: Inbound) -> int:
        """Count that the turn of an accepted message begins again."""
        with self._lock:
            self._refresh()
            self._write(_Begun(inbound.session, inbound.id))
            return self._pending[inbound.session, inbound.id].attempts

    def reply(self, inbound: Inbound, message: Message, status: str, kind: str) -> str:
        """Store the reply to an accepted message."""
        return self._append(
            _RowFact(inbound.session, message, reply_to=inbound.id, status=status, kind=kind)
        )

    def delivered(self, inbound: Inbound) -> None:
        """Note that the reply has left."""
        with self._lock:
            self._refresh()
            self._write(_Delivered(inbound.session, inbound.id))

    def pending(self) -> Sequence[Pending]:
        """The accepted messages whose turns are not over."""
        self._refresh()
        return list(self._pending.values())

    def summarise(self, session: str, summary: Message, first: str) -> None:
        """The session's history begins with `summary` and the row `first` from now on."""
        with self._lock:
            self._refresh()
            self._write(_Summarised(session, summary, first))

    def load(self, session: str) -> list[SessionRow]:
        """The session's history, from its last summary on."""
        return told(self.rows(session), self._summaries.get(session))

    def rows(self, session: str) -> list[SessionRow]:
        """Every row of the session."""
        self._refresh()
        return [row for of, row in self._rows if of == session]

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row of every session in order."""
        self._refresh()
        return as_read(row for _, row in self._rows)

    def close(self) -> None:
        """Nothing is held open between writes."""
