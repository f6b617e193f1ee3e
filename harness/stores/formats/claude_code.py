"""Claude Code's own session log as a store: read while the agent writes it.

A row is a message; the `uuid` of its first line identifies it. Only added lines are read; a
replaced or shortened file is read from its start. An answer grows block by block. The results of a
batch come one by one and form a row once all are there. Sub-agents' lines (`isSidechain`) and the
program's own are not rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

from harness.core.history.events import StoredRow
from harness.core.transition.ports import Store
from harness.core.values.messages import Message
from harness.recordings.message_lines import (
    ROLES,
    LoggedMessage,
    LoggedSession,
    message_on,
)
from harness.recordings.session_log import LogEntry, Notes, entries, split
from harness.stores.session_store import stored_row


def claude_code(path: Path) -> Store:
    """A session log of Claude Code, or a folder of them."""
    return ClaudeCodeStore(path)


class ClaudeCodeStore:
    """A `Store` over a session file, or over all of a folder, which may not be there yet.

    A folder's rows are named by their file too, and stand in the order of the files' names.
    """

    name = "claude_code"

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)
        self._logs: dict[Path, _Log] = {}

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row in order. A line that is not an entry is left out, and so is a torn last
        one."""
        if not self._path.is_dir():
            return list(self._rows(self._path, ""))
        files = sorted(self._path.rglob("*.jsonl"))
        return [row for file in files for row in self._rows(file, f"{file.stem}/")]

    def _rows(self, file: Path, prefix: str) -> Iterator[tuple[StoredRow, Message]]:
        log = self._logs.setdefault(file, _Log(file))
        log.refresh()
        for draft in log.told():
            yield stored_row(prefix + draft.id, draft.message)


class _Log:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._forget()

    def _forget(self) -> None:
        self._inode = self._read_bytes = self._lines = 0
        self._session = LoggedSession("")

    def refresh(self) -> None:
        try:
            file = open(self._path, "rb")  # noqa: SIM115
        except (FileNotFoundError, IsADirectoryError):
            # The program may make its folder, or remove a log, between two looks of this one.
            self._forget()
            return
        with file:
            inode, size_bytes = self._path.stat().st_ino, file.seek(0, 2)
            if inode != self._inode or size_bytes < self._read_bytes:
                self._forget()
            file.seek(self._read_bytes)
            added = file.read()
        whole = added[: added.rfind(b"\n") + 1]
        for entry in entries(split(whole), Notes()):
            self._take(entry)
        self._inode, self._read_bytes = inode, self._read_bytes + len(whole)
        self._lines += whole.count(b"\n")

    def _take(self, entry: LogEntry) -> None:
        value = entry.value
        hidden = value.get("isMeta") is True or value.get("isSidechain") is True
        if value.get("type") not in ROLES or hidden:
            return
        message = message_on(entry, Notes())
        if message is not None:
            name = value.get("uuid")
            number = str(self._lines + entry.number)
            self._session.take(message, value["message"], name if isinstance(name, str) else number)

    def told(self) -> list[LoggedMessage]:
        """The messages, without results of a batch that is not yet answered."""
        found = self._session.found
        if len(found) > 1 and found[-1].only_results:
            asked = {use.id for use in found[-2].message.tool_uses}
            given = {result.id for result in found[-1].message.tool_results}
            return found if asked <= given else found[:-1]
        return found
