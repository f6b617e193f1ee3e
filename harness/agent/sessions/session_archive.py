"""A history that is read from a JSONL archive on disk, and exported at the end of a turn.

The store has priority: it replaces a wrong archive, and the archive fills an empty store. Other
programs resume from `<config>/projects/<folder of the work>/<session>.jsonl`, Claude Code's layout.
A hook may name a path, so each must lie below `projects`. The watermark is written last; a file
without it would hide later rows and is removed. It names the last row by identity, because
reasoning and summaries shift a count. Missing rows can be appended only after an answer.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from harness.agent.conversation.projection import Projection
from harness.agent.sessions.jsonl_conversation import (
    Chain,
    messages_of,
    problem,
    without_stale_thinking,
)
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, digest
from harness.stores import SessionRow, SessionStore


class Watermark(msgspec.Struct, frozen=True):
    """The last row of a transcript: its id, and the digest of its message.

    The digest is needed because a new store gives the same ids to other rows. `file` is the digest
    of the transcript's bytes.
    """

    row: str = ""
    message: str = ""
    file: str = ""


def watermark_at_end(rows: Sequence[SessionRow], data: bytes) -> Watermark:
    """The watermark of a transcript that ends with the last row."""
    return Watermark(rows[-1].id, digest(rows[-1].message), digest(data.decode()))


def rows_after(rows: Sequence[SessionRow], mark: Watermark) -> list[SessionRow] | None:
    """The rows that a transcript lacks; None if they cannot be appended."""
    for place, row in enumerate(rows):
        if row.id == mark.row:
            fits = row.message.role == "assistant" and digest(row.message) == mark.message
            return list(rows[place + 1 :]) if fits else None
    return None


def folder_name(folder: str | os.PathLike[str]) -> str:
    """The name of a working folder below `projects`."""
    return re.sub(r"[^a-zA-Z0-9]", "-", os.path.realpath(folder))


def path_inside(path: str | os.PathLike[str], config: str | os.PathLike[str]) -> Path | None:
    """The real path if it is below `<config>/projects`, else None; never raises OSError.

    A link is followed; a cyclic or broken link is refused.
    """
    base = os.path.join(os.path.realpath(config), "projects", "")
    try:
        real = os.path.realpath(path, strict=os.path.lexists(path))
    except (OSError, RuntimeError, ValueError):
        return None
    return Path(real) if real.startswith(base) else None


class Archive:
    """The transcripts of one working folder, a file and a watermark for each session."""

    def __init__(self, config: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
        self._config, self._name = Path(config), folder_name(folder)

    def read(self, session: str) -> tuple[bytes, Watermark]:
        """The transcript and its watermark; both empty if a file is missing or damaged."""
        file, mark = self.paths(session)
        try:
            data, found = file.read_bytes(), msgspec.json.decode(mark.read_bytes(), type=Watermark)
        except (OSError, ValueError):
            return b"", Watermark()
        fits = not problem(data) and found.file == digest(data.decode())
        return (data, found) if fits else (b"", Watermark())

    def write(self, session: str, data: bytes, mark: Watermark) -> None:
        """Write both files, or neither. Raises OSError if they cannot be written."""
        file, beside = self.paths(session)
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            _replace(file, data)
            _replace(beside, msgspec.json.encode(mark))
        except OSError:
            self.forget(session)
            raise

    def forget(self, session: str) -> None:
        """Remove both files."""
        for path in reversed(self.paths(session)):
            path.unlink(missing_ok=True)

    def paths(self, session: str) -> tuple[Path, Path]:
        """The paths of the transcript and its watermark. Raises PermissionError for a name that
        leads outside."""
        place = self._config / "projects" / self._name
        found = [
            path_inside(place / f"{session}{end}", self._config) for end in (".jsonl", ".meta.json")
        ]
        if found[0] is None or found[1] is None:
            raise PermissionError(f"the session {session!r} has no place below {place}")
        return found[0], found[1]


def archive_of(brief: Brief) -> Archive:
    """The archive of an agent: in `claude` below its session folder."""
    folder = Path(brief.session_dir)
    return Archive(folder / "claude", folder)


def _replace(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


_EXPORTED = frozenset({"ok", "refused", "truncated"})
_log = logging.getLogger(__name__)


class ArchivedTranscript(RowTranscript):
    """Rows of a session store, read through an archive."""

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
        """Store an inbound message, once. A store that has lost its session is filled from the
        archive first. For the provider this is another conversation, so signed thinking of the old
        one is dropped."""
        if not self._store.rows(self._session):
            data = without_stale_thinking(self._archive.read(self._session)[0])
            self._store.seed(self._session, messages_of(data))
        return super().open(inbound)

    def load(self) -> list[SessionRow]:
        """The history from the archive and the later rows, else from the store."""
        self._chain = self._new_chain(self._session)
        self._chain.extend(self._store.load(self._session))
        data, mark = self._archive.read(self._session)
        missing = self.missing(data, mark)
        if self._chain.replace(data if missing is not None else b""):
            self._chain.extend(missing or ())
        return self._chain.rows()

    def missing(self, data: bytes, mark: Watermark) -> list[SessionRow] | None:
        """The rows that the archive lacks; None if it cannot be used."""
        return rows_after(self._store.rows(self._session), mark)

    def append(self, message: Message) -> None:
        """Store a message, then add it."""
        super().append(message)
        self._chain.append(message, self._rows[-1].id)

    def compact(self, summary: Message, keep: int) -> None:
        """Continue with a summary; the archive is out of date until the end of the turn."""
        self._archive.forget(self._session)
        super().compact(summary, keep)
        self._chain.summarise(summary, keep)

    def rebuild(self, budget_tokens: int) -> None:
        """Continue with a part of the rows, only for this turn and without an export."""
        super().rebuild(budget_tokens)
        self._dropped = True

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the reply, then export. If the archive cannot be written, the history comes from
        the store until it can."""
        super().close(inbound, outcome)
        if self._dropped or outcome.status not in _EXPORTED:
            return
        rows = self._store.rows(self._session)
        self._chain.append(outcome.message, rows[-1].id)
        data = self._chain.export()
        try:
            self._archive.write(self._session, data, watermark_at_end(rows, data))
        except OSError as error:
            _log.warning("the transcript of %s was not exported: %s", self._session, error)
