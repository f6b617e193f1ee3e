"""Agents that fail with their store, or read it wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.agent import build
from harness.agent.conversation.content import clean
from harness.agent.gateway import Gateway
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import RowTranscript, SessionTranscript, Unread
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, user
from harness.stores.session_store import SessionRow

_WRITES = {"accept": True, "append": "", "reply": "", "begin": 1, "delivered": None}
"""The writes of a store, with what an agent goes on with when it does not look at one."""


class _Careless:
    """A store whose refusals stay unseen; with `once`, the first one is the last call it gets."""

    once = False

    def __init__(self, store: Any) -> None:
        self._store = store
        self._off = False

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._unseen(name, found) if name in _WRITES else found

    def _unseen(self, name: str, write: Any) -> Any:
        def call(*arguments: Any) -> Any:
            if not self._off:
                try:
                    return write(*arguments)
                except Exception:
                    self._off = self.once
            return _WRITES[name]

        return call


class _SwitchedOff(_Careless):
    once = True


class _Live(RowTranscript):
    """Answers a message of which the store knows nothing."""

    def load(self) -> list[SessionRow]:
        """The history, which ends with the message."""
        rows = super().load()
        return rows if rows and rows[-1].message.role != "assistant" else [*rows, self._newest]

    def open(self, inbound: Inbound) -> bool:
        """Keep the message in memory too."""
        self._newest = SessionRow("", user(clean(inbound.text)))
        return super().open(inbound)


def ignores_refused_writes(brief: Brief) -> None:
    """Tries each write once, and does not look at what came of it."""
    build(brief, store=_Careless(brief.store), transcript=_Live).run()


def switches_its_store_off(brief: Brief) -> None:
    """Goes on without a store after the first write that is refused."""
    build(brief, store=_SwitchedOff(brief.store), transcript=_Live).run()


class _Dropping(Gateway):
    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Say nothing of a message that could not be taken in."""
        return "not_stored" in outcome.text or super().send(inbound, outcome)


def drops_what_it_cannot_take_in(brief: Brief) -> None:
    """Tries the write of a message once, and forgets a message for which it failed."""
    build(brief, store=brief.store, gateway=_Dropping).run()


class _Unguarded(Gateway):
    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message; what breaks the turn ends the agent."""
        self.settle(inbound, transcript, self.loop_for(inbound, transcript).run())


def dies_of_a_full_disk(brief: Brief) -> None:
    """Catches no error of a write in the middle of a turn."""
    build(brief, gateway=_Unguarded).run()


class _Strict(RowTranscript):
    """Opens a session only if every record of it can be read."""

    def open(self, inbound: Inbound) -> bool:
        """Take a message in, unless the session is damaged."""
        if self._store.notes:
            raise Unread("a record of the session cannot be read")
        return super().open(inbound)


def refuses_a_damaged_session(brief: Brief) -> None:
    """Reads more strictly than it writes: one bad record, and nothing is answered any more."""
    build(brief, transcript=_Strict).run()


class _TextLines(RowTranscript):
    """Takes a line separator in a text for the end of a record."""

    def load(self) -> list[SessionRow]:
        """The rows, if no record of an earlier turn is half a line."""
        rows = super().load()
        if any(len(row.message.text.splitlines()) > 1 for row in rows[:-1]):
            raise ValueError("a record ends in the middle")
        return rows


def splits_records_at_u2028(brief: Brief) -> None:
    """Cannot resume a session that holds U+2028."""
    build(brief, transcript=_TextLines).run()


class _Glued(_Careless):
    """The first row behind a torn line becomes a part of it, and both are unreadable."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self._torn = bool(store.notes)

    def accept(self, inbound: Inbound, message: Message) -> bool:
        """Append a message without a check of the file's end."""
        if self._torn:
            self._torn = False
            return True
        taken: bool = self._store.accept(inbound, message)
        return taken


def appends_to_a_torn_line(brief: Brief) -> None:
    """Repairs no torn line before it appends."""
    build(brief, store=_Glued(brief.store), transcript=_Live).run()


class _FreshSession(RowTranscript):
    def load(self) -> list[SessionRow]:
        """The history, or a new one that begins with the message."""
        try:
            return super().load()
        except Exception:
            return [self._newest]

    def open(self, inbound: Inbound) -> bool:
        """Keep the message for a new session."""
        self._newest = SessionRow("", user(clean(inbound.text)))
        return super().open(inbound)

    def resume(self, inbound: Inbound) -> int:
        """Keep the message for a new session."""
        self._newest = SessionRow("", user(clean(inbound.text)))
        return super().resume(inbound)


def falls_back_to_a_fresh_session(brief: Brief) -> None:
    """Begins a new session silently when the old one cannot be read."""
    build(brief, transcript=_FreshSession).run()


class _TwiceStored(RowTranscript):
    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Append the whole turn again, then its reply."""
        said = [row.message.text for row in self._rows]
        begun = max(n for n, text in enumerate(said) if text == inbound.text)
        work: Sequence[SessionRow] = self._rows[begun + 1 :]
        for row in work:
            self._store.append(self._session, row.message)
        super().close(inbound, outcome)


def stores_results_twice(brief: Brief) -> None:
    """Appends a row for each result, and all of them again when the turn is over."""
    build(brief, transcript=_TwiceStored).run()


class _ErrorRow(RowTranscript):
    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store an error in place of the reply."""
        super().close(inbound, ends.failed("The turn ended without a row."))


def writes_an_error_row(brief: Brief) -> None:
    """Shows the reply, while another path of the code stores an error for it."""
    build(brief, transcript=_ErrorRow).run()
