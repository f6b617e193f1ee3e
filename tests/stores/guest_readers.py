"""A plug-in with store readers, and with functions that are not readers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.values.messages import Message, user
from harness.stores import Store, StoredRow, stored_row

if TYPE_CHECKING:
    import harness.stores as checked


class Notes:
    """A store of a user's own: a line is a message."""

    name = "notes"

    def __init__(self, place: Path | str) -> None:
        self.place = place

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every line as a message of the user."""
        lines = Path(self.place).read_text().splitlines() if Path(self.place).exists() else []
        return [stored_row(str(n), user(line)) for n, line in enumerate(lines, start=1)]


class DerivedStore(Notes, Store):
    """A store that says so by its base."""


def notes(path: Path) -> Store:
    """A line is a message."""
    return Notes(path)


def derived(path: Path) -> DerivedStore:
    """A class that derives from `Store`."""
    return DerivedStore(path)


def for_checkers(path: Path) -> checked.Store:
    """An annotation that only type checkers can read."""
    return Notes(path)


def server(url: str) -> Store:
    """Behind a URL."""
    return Notes(url)


def folder(path: Path) -> Path:
    """No store is returned."""
    return path


def later(folder: Path, path: Path) -> Store:
    """The path comes second."""
    return Notes(path)
