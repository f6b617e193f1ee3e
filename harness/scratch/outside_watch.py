"""What changed outside of a copy: files, by their sizes and times of change.

It sees any program, also one that runs no Python. It cannot tell who changed a file of a folder
that all programs share, so it names what it saw and no culprit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.core.values.machine_names import SCRATCH_PREFIX
from harness.scratch.project_copy import FILES_MOST, entries

TEMPORARY = ("/tmp", "/var/tmp")
"""Folders in which all programs of a machine write."""

_SHARED_DEPTH = 2
_SHARED_MOST = 5_000
_NO_AGENT = (SCRATCH_PREFIX, "pytest-of-")
"""What begins so in a temporary folder is ours, or of a test runner."""

_Marks = dict[str, tuple[int, int]]


class OutsideWatch:
    """The state of a project, of named places, of temporary folders and of a home folder."""

    def __init__(self, folder: Path, places: Iterable[str], home: Path) -> None:
        self._folder, self._places, self._home = folder, tuple(places), home
        self._before = self._marks()

    def changed(self) -> list[str]:
        """The paths that are new, gone or changed since the last call, the project's own first.

        A folder is left out where a change below it is told.
        """
        before, self._before = self._before, self._marks()
        paths = {p for p in {*before, *self._before} if before.get(p) != self._before.get(p)}
        above = {str(parent) for path in paths for parent in Path(path).parents}
        own = str(self._folder)
        return sorted(paths - above, key=lambda p: (not p.startswith(own), p in before, p))

    def _marks(self) -> _Marks:
        found: _Marks = {}
        for number, one in enumerate(entries(self._folder)):
            if one.kind == "file" and number <= FILES_MOST:
                _mark(found, str(self._folder / one.name))
        for place in self._places:
            for path in (place, f"{place}-wal", f"{place}-journal"):
                _mark(found, path)
            found |= dict(_shared(Path(place), _SHARED_DEPTH))
        for folder, depth in self._shared_folders():
            found |= dict(_shared(folder, depth))
        return found

    def _shared_folders(self) -> Iterator[tuple[Path, int]]:
        yield from ((Path(folder), 0) for folder in TEMPORARY)
        yield self._home, 0
        for name in (".cache", ".config", ".local/share", ".local/state"):
            yield self._home / name, _SHARED_DEPTH


def _mark(found: _Marks, path: str) -> None:
    try:
        state = os.lstat(path)
    except OSError:
        return
    found[path] = (state.st_mtime_ns, state.st_size)


def _shared(folder: Path, depth: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the marks of this user's files and folders in a folder, down to a depth."""
    waiting = [(str(folder), depth)]
    left = _SHARED_MOST
    for place, below in waiting:
        try:
            inside = list(os.scandir(place))
        except OSError:
            continue
        for entry in inside[:left]:
            left -= 1
            try:
                state = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if state.st_uid != os.getuid() or entry.name.startswith(_NO_AGENT):
                continue
            yield entry.path, (state.st_mtime_ns, state.st_size)
            if below and entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, below - 1))
