"""Stores and gateways with one defect each that only a kill brings out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import RowTranscript, SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome, restored
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, assistant
from harness.stores.session_store import Pending
from harness.stores.sqlite import SqliteStore


class CommitsLate(SqliteStore):
    """A transaction is committed with the write after the next: a driver that opens one by itself
    and no code that ends it (faults P18)."""

    _open = 0

    @contextmanager
    def _writing(self, session: str = "") -> Iterator[Any]:
        if not self._open:
            self._db.execute("BEGIN IMMEDIATE")
        yield self._db
        self.at_commit()
        self._open = (self._open + 1) % 3
        if not self._open:
            self._db.execute("COMMIT")

    def close(self) -> None:
        """An orderly end loses nothing, so the defect stays hidden."""
        if self._open:
            self._db.execute("COMMIT")
        super().close()


class AcknowledgesFirst(SqliteStore):
    """A row is written with the next one; its id is known before (write-behind)."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self._waiting: Callable[[], str] | None = None
        super().__init__(path, **settings)

    def _flush(self) -> None:
        write, self._waiting = self._waiting, None
        if write is not None:
            write()

    def append(self, session: str, message: Message, inbound: str = "") -> str:
        """Say that it is stored."""
        self._flush()
        last = self._ask("SELECT coalesce(max(id), 0) FROM rows")[0][0]
        self._waiting = lambda: SqliteStore.append(self, session, message, inbound)
        return str(int(last) + 1)

    def rows(self, session: str) -> Any:
        """This process sees no difference."""
        self._flush()
        return super().rows(session)

    def reply(self, inbound: Inbound, message: Message, status: str, kind: str) -> str:
        """Store the reply."""
        self._flush()
        return super().reply(inbound, message, status, kind)


def opened(kind: type[SqliteStore]) -> Callable[[Mapping[str, Any], Path], SqliteStore]:
    """Opens a wrong store."""
    return lambda options, folder: kind(folder / "session.db", synchronous="OFF")


class DeliversFirst(Gateway):
    """The reply is delivered, then stored."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Deliver, then store."""
        self.send(inbound, outcome)
        transcript.close(inbound, outcome)
        self.store.delivered(inbound)


class SaysItAgain(Gateway):
    """After a restart a reply of unknown delivery goes out as if it were new."""

    def recover(self, pending: Pending) -> None:
        """Deliver what is stored, silently."""
        if pending.reply is None:
            return super().recover(pending)
        known = restored(pending.reply, pending.status, pending.kind)
        new = Outcome(known.status, assistant(pending.reply), known.kind)
        return self.deliver(pending.inbound, new)


class ForgetsOpenCalls(RowTranscript):
    """A turn is taken up where it was, open calls and all."""

    def resume(self, inbound: Inbound) -> int:
        """Load the history as it is."""
        attempts = self._store.begin(inbound)
        self._rows = self._store.load(self._session)
        return attempts


class RunsThemAgain(Gateway):
    """After a restart the open calls of the interrupted turn are run (incidents 148, 155)."""

    def recover(self, pending: Pending) -> None:
        """Run what has no result, then go on."""
        transcript = self.transcript_of(pending.inbound.session)
        if pending.reply is not None or not self.open_calls(pending):
            return super().recover(pending)
        transcript.resume(pending.inbound)
        loop = self.loop_for(pending.inbound, transcript)
        loop.execute(self.open_calls(pending))
        return self.settle(pending.inbound, transcript, loop.run())

    def open_calls(self, pending: Pending) -> Any:
        """The calls of the last row."""
        rows = self.store.rows(pending.inbound.session)
        return rows[-1].message.tool_uses


def delivers_first(brief: Brief) -> None:
    """The agent that delivers before it stores."""
    build(brief, gateway=DeliversFirst).run()


def says_it_again(brief: Brief) -> None:
    """The agent that repeats a reply silently."""
    build(brief, gateway=SaysItAgain).run()


def runs_them_again(brief: Brief) -> None:
    """The agent that runs open calls again."""
    build(brief, gateway=RunsThemAgain, transcript=ForgetsOpenCalls).run()
