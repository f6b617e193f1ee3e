"""How the live history of a turn becomes rows.

There is one list, and every message that is added to it is a row before it is anything else: the
inbound message before the first request, a call before it runs, a result before the model sees it,
the reply before it is delivered. A row has an identity from the store; nothing is found by its
place in a list, for a list that is repaired is shorter than what was stored. Repair for the wire
happens on a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.agent.outcome import Outcome
from harness.agent.projection import NO_OUTCOME, Projection
from harness.agent.text import clean
from harness.agent.window import fit
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, ToolResult, results, user
from harness.stores.session_store import SessionRow, SessionStore


class Unread(Exception):
    """The inbound message is stored, and the history that it ends could not be read."""


class Transcript(Protocol):
    """The history of one session during one turn. A new turn gets a new one."""

    @property
    def messages(self) -> Sequence[Message]:
        """The live history."""
        ...

    def open(self, inbound: Inbound) -> bool:
        """Take an inbound message in; False when it was taken in before.

        Raises Unread when it was taken in and nothing can be done with it.
        """
        ...

    def resume(self, inbound: Inbound) -> int:
        """Take up a turn that was interrupted; how often it has been begun now."""
        ...

    def append(self, message: Message) -> None:
        """Add what the model said, or results."""
        ...

    def wire(self, nudge: str = "") -> list[Message]:
        """The messages of the next request; `nudge` is said to the model once and not kept."""
        ...

    def compact(self, summary: Message, keep: int) -> None:
        """Go on with a summary and the last `keep` messages, now and in later turns."""
        ...

    def rebuild(self, budget_tokens: int) -> None:
        """Go on, in this turn, with what of the stored rows fits."""
        ...

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Keep the reply."""
        ...


class RowTranscript:
    """A transcript whose messages are rows of a session store."""

    def __init__(self, store: SessionStore, session: str, project: Projection) -> None:
        self._store, self._session, self._project = store, session, project
        self._rows: list[SessionRow] = []

    @property
    def messages(self) -> Sequence[Message]:
        """The live history."""
        return [row.message for row in self._rows]

    def load(self) -> list[SessionRow]:
        """The history as it is told now."""
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

    def resume(self, inbound: Inbound) -> int:
        """Load the history of a turn that was interrupted. Calls that had no result yet are not
        run again, for nobody knows what they did: they get a result that says so."""
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
        """The history as the API takes it."""
        return self._project([*self.messages, *([user(nudge)] if nudge else [])])

    def compact(self, summary: Message, keep: int) -> None:
        """Put a summary in the place of all but the last `keep` messages."""
        kept = self._rows[-keep:]
        self._store.summarise(self._session, summary, kept[0].id)
        self._rows = [SessionRow("", summary), *kept]

    def rebuild(self, budget_tokens: int) -> None:
        """Put what fits of the stored rows in the place of the history."""
        stored = [row.message for row in self._store.rows(self._session)]
        self._rows = [SessionRow("", message) for message in fit(stored, budget_tokens)]

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the reply."""
        self._store.reply(inbound, outcome.message, outcome.status, outcome.kind)
