"""A history that is told from a JSONL archive, and exported when a turn is done.

The store stays the truth: rows are written there first, and whatever is wrong with the archive, the
store tells the history instead. The archive is what another program can resume from, and what is
left when the store is lost: an empty store is filled from it. A turn that failed is not exported;
its rows come from the store the next time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from harness.agent.outcome import Outcome
from harness.agent.projection import Projection
from harness.agent.transcript import RowTranscript
from harness.agent.transcripts.chain import Chain, messages_of
from harness.agent.transcripts.files import Archive
from harness.agent.transcripts.strip import without_stale_thinking
from harness.agent.transcripts.watermark import Watermark, at_end, gap
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from harness.stores.session_store import SessionRow, SessionStore

_EXPORTED = frozenset({"ok", "refused", "truncated"})
_log = logging.getLogger(__name__)


class ArchivedTranscript(RowTranscript):
    """Rows of a session store, told by way of an archive."""

    def __init__(
        self,
        archive: Archive,
        store: SessionStore,
        session: str,
        project: Projection,
        new_chain: Callable[[str], Chain] = Chain,
    ) -> None:
        super().__init__(store, session, project)
        self._archive, self._new_chain = archive, new_chain
        self._chain = new_chain(session)
        self._dropped = False

    def open(self, inbound: Inbound) -> bool:
        """Store an inbound message, once. A store that has lost its session is filled first; that
        is another conversation to the model, which refuses what it has signed for the old one."""
        if not self._store.rows(self._session):
            data = without_stale_thinking(self._archive.read(self._session)[0])
            self._store.seed(self._session, messages_of(data))
        return super().open(inbound)

    def load(self) -> list[SessionRow]:
        """The history as the archive has it, and the rows since; else as the store has it."""
        self._chain = self._new_chain(self._session)
        self._chain.extend(self._store.load(self._session))
        data, mark = self._archive.read(self._session)
        missing = self.missing(data, mark)
        if self._chain.replace(data if missing is not None else b""):
            self._chain.extend(missing or ())
        return self._chain.rows()

    def missing(self, data: bytes, mark: Watermark) -> list[SessionRow] | None:
        """The rows that the archive has not got; None when it cannot be used."""
        return gap(self._store.rows(self._session), mark)

    def append(self, message: Message) -> None:
        """Store a message, then add it."""
        super().append(message)
        self._chain.append(message, self._rows[-1].id)

    def compact(self, summary: Message, keep: int) -> None:
        """Go on with a summary; what is in the archive is out of date until the turn is over."""
        self._archive.forget(self._session)
        super().compact(summary, keep)
        self._chain.summarise(summary, keep)

    def rebuild(self, budget_tokens: int) -> None:
        """Go on with a part of the rows, which is good for this turn and no export."""
        super().rebuild(budget_tokens)
        self._dropped = True

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the reply, then export. An archive that cannot be written costs nobody the reply:
        the store has it, and tells the history until the archive can be written again."""
        super().close(inbound, outcome)
        if self._dropped or outcome.status not in _EXPORTED:
            return
        rows = self._store.rows(self._session)
        self._chain.append(outcome.message, rows[-1].id)
        data = self._chain.export()
        try:
            self._archive.write(self._session, data, at_end(rows, data))
        except OSError as error:
            _log.warning("the transcript of %s was not exported: %s", self._session, error)
