"""Looks at the files that an agent writes itself, and leaves them as a kill at a write leaves them.

No call tells of such a write, in any language. So the files are compared before each call: what
differs was written since the call before, and the agent has relied on none of it yet. Only states
that a kill there can leave are made. The file that changed last is the one that is cut; where
nothing tells which did, and at a database or a file that came by renaming, nothing is. A file was
written between its mtime and its ctime: a renaming keeps the mtime of the file beside and sets the
ctime, as `chmod` and `utime` do. So two files are in order where these times do not overlap, nor
fall on one tick of the file system's clock. The inode number alone does not show a renaming: ext4
uses the number of a deleted file again, so a file that is replaced twice has its old number. The
files are kept open from look to look, since the number of an open file is not used again.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from harness.core.transition.transition import NO_KILL, Transition

FILE_BYTES_MOST = 8_000_000
"""A larger file is not kept in memory, so no kill comes at a write to it."""

FILES_MOST = 2_000

OPEN_MOST = 100
"""The newest files, at most this many, are kept open; some systems allow 256 for a process."""

_DATABASE = b"SQLite format 3\0"
_BESIDE = ("-wal", "-journal")
_NOT_OWN = ("seed.jsonl",)

_STEADY = 3
"""How often the files are read until none changes meanwhile: another thread may write."""


class _File(NamedTuple):
    inode: int
    mtime_ns: int
    size: int
    data: bytes | None
    ctime_ns: int


_Files = Mapping[Path, _File]


class _Open:
    """A file that is kept open, and is closed when it is let go."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.marks = _marks(os.fstat(descriptor))

    def __del__(self) -> None:
        os.close(self._descriptor)


def watch_files(transition: Transition, folders: Sequence[Path]) -> OwnFiles:
    """Look at the files before each call of a life, for a fault at a write to them."""
    watch = OwnFiles(transition, folders)
    transition.files, transition.file_writes = watch.written, 0
    return watch


class OwnFiles:
    """The agent's own files in some folders: as they were at the call before, and as they are.

    A write is a group of files that changed together, the last one of which may be cut.
    """

    def __init__(self, transition: Transition, folders: Sequence[Path]) -> None:
        self._transition, self._folders = transition, folders
        self._before: _Files = {}
        self._now = self._read({}) or {}
        self._open = _kept_open(self._now, {})
        self._was_open: Mapping[Path, _Open] = {}
        self._writes: list[list[Path]] = []

    def written(self) -> list[str]:
        """How each write since the last look was done, in order: `append`, `rewrite`, `replace`."""
        self._writes = []
        now = self._read(self._now)
        if now is None:
            return []
        self._before, self._now = self._now, now
        self._was_open, self._open = self._open, _kept_open(now, self._open)
        both = {**self._before, **now}
        changed = [path for path in both if self._before.get(path) != now.get(path)]
        files = (f[path] for f in (self._before, now) for path in changed if path in f)
        if changed and all(file.data is not None for file in files):
            self._writes = self._in_order(changed)
        return [self._how(paths) for paths in self._writes]

    @property
    def place(self) -> str:
        """The place of the kill that is due, with the file that it leaves half; "" for none due."""
        key, left, number = self._transition.file_kill
        name = self._writes[number][-1].name if left in _HALF else ""
        return f"{key}:{left} {name}".strip() if key else ""

    def damage(self) -> None:
        """Leave the files as the kill that is due leaves them; no process of the agent may write
        any more."""
        (key, left, number), self._transition.file_kill = self._transition.file_kill, NO_KILL
        later = self._writes[number + (left != "undone") :] if key else []
        for path in (path for paths in later for path in paths):
            _restore(path, self._before.get(path))
        if left in _HALF:
            path = self._writes[number][-1]
            _write(path, _HALF[left](self._before[path].data or b"", self._now[path].data or b""))

    def _in_order(self, changed: Sequence[Path]) -> list[list[Path]]:
        """The writes in the order of their time; one for all where nothing tells the order."""
        of_one = dict[Path, list[Path]]()
        for path in sorted(changed, key=self._last_ns):
            of_one.setdefault(_main_file(path), []).append(path)
        writes = sorted(of_one.values(), key=lambda paths: self._last_ns(paths[-1]))
        if self._are_apart(writes) and all(map(self._is_once, changed)):
            return writes
        return [sorted(changed, key=self._last_ns)]

    def _are_apart(self, writes: Sequence[Sequence[Path]]) -> bool:
        """Whether each write began after the one before it had ended."""
        return all(
            self._last_ns(before[-1]) < min(map(self._first_ns, after))
            for before, after in pairwise(writes)
        )

    def _first_ns(self, path: Path) -> float:
        """The earliest time at which a file can have been written; of one that is gone, any."""
        file = self._now.get(path)
        return min(file.mtime_ns, file.ctime_ns) if file else -math.inf

    def _last_ns(self, path: Path) -> float:
        file = self._now.get(path)
        return max(file.mtime_ns, file.ctime_ns) if file else math.inf

    def _is_once(self, path: Path) -> bool:
        """Whether a file was written once: it has one more line, or came whole."""
        if self._how([path]) != "append":
            return True
        old, new = self._before[path].data or b"", self._now[path].data or b""
        return new.count(b"\n") - old.count(b"\n") <= 1

    def _how(self, paths: Sequence[Path]) -> str:
        path = paths[-1]
        if path not in self._before or path not in self._now:
            return "replace"
        if not self._are_apart([[path] for path in paths[-2:]]):
            return "replace"
        old, new = self._before[path], self._now[path]
        # After a kill, a file that replaces another one is the old or the new one, and never half.
        if path not in self._was_open or old.inode != new.inode or old.data == new.data:
            return "replace"
        if not old.data or not new.data or _is_database(path, new.data):
            return "replace"
        is_longer = len(new.data) > len(old.data) and new.data.startswith(old.data)
        return "append" if is_longer else "rewrite"

    def _read(self, known: _Files) -> _Files | None:
        """The files, steady; None where they change all the time."""
        found = _files(self._folders, known)
        for _ in range(_STEADY):
            again = _files(self._folders, found)
            if again == found:
                return found
            found = again
        return None


def _files(folders: Sequence[Path], known: _Files) -> _Files:
    return {path: _file(path, state, known.get(path)) for path, state in _entries(folders)}


def _entries(folders: Sequence[Path]) -> Iterator[tuple[Path, os.stat_result]]:
    waiting, left = [str(folder) for folder in folders], FILES_MOST
    for folder in waiting:
        try:
            inside = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in inside:
            try:
                state = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(state.st_mode):
                waiting.append(entry.path)
            elif left and stat.S_ISREG(state.st_mode) and _is_own(entry.name):
                left -= 1
                yield Path(entry.path), state


def _is_own(name: str) -> bool:
    return name not in _NOT_OWN and not name.endswith("-shm")


def _file(path: Path, state: os.stat_result, known: _File | None) -> _File:
    marks = _marks(state)
    if known is not None and known[:3] == marks:
        return known
    data = None
    with suppress(OSError):
        data = path.read_bytes() if state.st_size <= FILE_BYTES_MOST else None
    return _File(*marks, data, state.st_ctime_ns)


def _marks(state: os.stat_result) -> tuple[int, int, int]:
    return state.st_ino, state.st_mtime_ns, state.st_size


def _kept_open(files: _Files, before: Mapping[Path, _Open]) -> dict[Path, _Open]:
    """The newest files that may be cut, open; one that was open before stays so."""
    held = dict[Path, _Open]()
    for path in sorted(files, key=lambda path: files[path].mtime_ns)[-OPEN_MOST:]:
        file, known = files[path], before.get(path)
        if known is not None and known.marks[0] == file.inode:
            held[path] = known
        elif file.data and not _is_database(path, file.data):
            with suppress(OSError):
                opened = _Open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK))
                if opened.marks == file[:3]:
                    held[path] = opened
    return held


def _main_file(path: Path) -> Path:
    """The database that a journal belongs to; any other file is one by itself."""
    end = next((end for end in _BESIDE if path.name.endswith(end)), "")
    return path.with_name(path.name.removesuffix(end))


def _is_database(path: Path, data: bytes) -> bool:
    return data.startswith(_DATABASE) or path.name.endswith(_BESIDE)


def _last_line(old: bytes, new: bytes) -> tuple[int, int]:
    """Where the last line begins that was appended, and where it ends."""
    end = len(new.rstrip(b"\n"))
    return max(len(old), new.rfind(b"\n", 0, end) + 1), end


def _torn(old: bytes, new: bytes) -> bytes:
    """Half of the last line that was appended, or of a file that was written again."""
    if not new.startswith(old):
        return new[: len(new) // 2]
    start, end = _last_line(old, new)
    return new[: max(start + 1, (start + end) // 2)]


def _garbled(old: bytes, new: bytes) -> bytes:
    """The file with half of its last line before that line."""
    start, end = _last_line(old, new)
    return new[:start] + new[start : (start + end) // 2] + b"\n" + new[start:]


_HALF = {"torn": _torn, "garbled": _garbled}


def _restore(path: Path, file: _File | None) -> None:
    if file is None:
        path.unlink(missing_ok=True)
    elif file.data is not None:
        _write(path, file.data)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
