"""Names of chats become names of files, and two chats share one file."""

from __future__ import annotations

import re
import unicodedata
from functools import partial

from harness.agent import build
from harness.agent.conversation.projection import Projection
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.stores import SessionRow, SessionStore
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="Two names that differ by a blank, by case or by their Unicode form are one session",
    scenario="chats-that-count-alike/names-that-differ-by-a-space",
    killed_by="session_isolation.message",
)


def cleaned(session: str) -> str:
    """A name that any file system takes."""
    plain = unicodedata.normalize("NFC", session).casefold()
    return re.sub(r"\W", "_", plain)


class ByFileName(RowTranscript):
    """Reads the history of every chat whose name is the same once it is cleaned."""

    def __init__(
        self, names: list[str], store: SessionStore, session: str, project: Projection
    ) -> None:
        super().__init__(store, session, project)
        names.append(session)
        self._others = [n for n in dict.fromkeys(names) if cleaned(n) == cleaned(session)]

    def load(self) -> list[SessionRow]:
        """The rows of all these chats; those of the chat itself come last."""
        last = sorted(self._others, key=lambda name: name == self._session)
        return [row for name in last for row in self._store.load(name)]


def agent(brief: Brief) -> None:
    """The reference agent that cleans names."""
    build(brief, transcript=partial(ByFileName, [])).run()
