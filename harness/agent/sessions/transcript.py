"""The live history of a turn as rows of a store, and the retries of failing writes.

A message is stored first: a call before it runs, a result before the model sees it. Ids identify
rows, because a repaired copy has other positions. In a local store, a write that raises has not
happened, so it is retried. A server may lose the answer to a commit, so its errors are raised at
once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from harness.agent.conversation.content import clean
from harness.agent.conversation.history_size import fit
from harness.agent.conversation.projection import NO_OUTCOME, Projection
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, ToolResult, results, user
from harness.stores import SessionRow, SessionStore

STORE_WAITS_S = (0.1, 1.0, 10.0)

_RETRIED = frozenset(
    {"accept", "append", "begin", "reply", "delivered", "summarise", "pending", "load", "rows"}
)

_PASSING_ERRORS = (OSError, sqlite3.OperationalError)


class Unread(Exception):
    """The inbound message is stored, but the history before it is unreadable."""


class SessionTranscript(Protocol):
    """The history of one session during one turn. A new turn gets a new one."""

    @property
    def messages(self) -> Sequence[Message]:
        """The live history."""

    def open(self, inbound: Inbound) -> bool:
        """Store an inbound message; False if it was stored before.

        Raises Unread if it is stored but its history is unreadable.
        """

    @property
    def joined(self) -> Sequence[Inbound]:
        """The messages that the turn has taken in after the one that opened it."""

    def join(self, inbound: Inbound) -> None:
        """Store a message that comes during the turn, once, and add it."""

    def resume(self, inbound: Inbound) -> int:
        """Resume an interrupted turn; return the number of its starts so far."""

    def append(self, message: Message) -> None:
        """Add a message of the model, or results."""

    def wire(self, nudge: str = "") -> list[Message]:
        """The messages of the next request; `nudge` is sent to the model once and not kept."""

    def compact(self, summary: Message, keep: int) -> None:
        """Continue with a summary and the last `keep` messages, now and in later turns."""

    def rebuild(self, budget_tokens: int) -> None:
        """Continue, in this turn only, with the stored rows that fit."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the reply."""


class RowTranscript:
    """A transcript whose messages are rows of a session store."""

    def __init__(self, store: SessionStore, session: str, project: Projection) -> None:
        self._store, self._session, self._project = store, session, project
        self._rows: list[SessionRow] = []
        self.joined: list[Inbound] = []

    @property
    def messages(self) -> Sequence[Message]:
        """The live history."""
        return [row.message for row in self._rows]

    def load(self) -> list[SessionRow]:
        """The current history."""
        return self._store.load(self._session)

    def open(self, inbound: Inbound) -> bool:
        """Store an inbound message, once, and load the history that ends with it."""
        if not self._store.accept(inbound, user(clean(inbound.text))):
            return False
        try:
            self._rows = self.load()
        except Exception as error:
            raise Unread(f"the conversation could not be read: {error}") from error
        return True

    def join(self, inbound: Inbound) -> None:
        """Store a message that comes during the turn, once, and add it."""
        if self._store.accept(inbound, user(clean(inbound.text))):
            self._rows.append(self.load()[-1])
            self.joined.append(inbound)

    def resume(self, inbound: Inbound) -> int:
        """Load the history of an interrupted turn. The outcome of its open calls is unknown, so
        they do not run again, and their result says so."""
        attempts = self._store.begin(inbound)
        self._rows = self.load()
        open_calls = self._rows[-1].message.tool_uses if self._rows else ()
        if open_calls:
            stubs = (ToolResult(call.id, NO_OUTCOME, is_error=True) for call in open_calls)
            self.append(results(*stubs))
        return attempts

    def append(self, message: Message) -> None:
        """Store a message and add it."""
        self._rows.append(SessionRow(self._store.append(self._session, message), message))

    def wire(self, nudge: str = "") -> list[Message]:
        """The history in a form that the API accepts."""
        return self._project([*self.messages, *([user(nudge)] if nudge else [])])

    def compact(self, summary: Message, keep: int) -> None:
        """Replace all but the last `keep` messages by a summary."""
        kept = self._rows[-keep:]
        self._store.summarise(self._session, summary, kept[0].id)
        self._rows = [SessionRow("", summary), *kept]

    def rebuild(self, budget_tokens: int) -> None:
        """Replace the history by the stored rows that fit."""
        stored = [row.message for row in self._store.rows(self._session)]
        self._rows = [SessionRow("", message) for message in fit(stored, budget_tokens)]

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the reply."""
        self._store.reply(inbound, outcome.message, outcome.status, outcome.kind)


class RetryingStore:
    """A session store that repeats a failing call after each of the waits; `sleep` takes
    seconds."""

    def __init__(
        self,
        store: SessionStore,
        sleep: Callable[[float], None],
        waits_s: Sequence[float] = STORE_WAITS_S,
    ) -> None:
        self._store, self._sleep, self._waits_s = store, sleep, tuple(waits_s)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._patient(found) if name in _RETRIED else found

    def _patient(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            for wait_s in self._waits_s:
                try:
                    return method(*arguments, **named)
                except _PASSING_ERRORS:
                    self._sleep(wait_s)
            return method(*arguments, **named)

        return call
