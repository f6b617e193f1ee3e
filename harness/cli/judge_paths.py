"""The files that `judge` is given: the named ones, and every file below a folder.

A link in a folder is not followed: what it names in the folder is met anyway, and what is outside
is not meant. A pipe or a device is not opened. Each of them is reported in one line. The walk keeps
nothing of what it passed, so a folder may hold any number of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.core.values.errors import InputError


class FoundFile(msgspec.Struct, frozen=True):
    """A file: `named` by the user, or found in a folder; `refused` says why it is not opened."""

    path: str
    named: bool = False
    refused: str = ""


def files(paths: Sequence[Path]) -> Iterator[FoundFile]:
    """Each file once, in order. Raises InputError for a path that is nothing."""
    for path in paths:
        if not path.exists():
            raise InputError("no such file or folder", str(path))
    seen: set[str] = set()
    for path in paths:
        root = os.path.realpath(path)
        for found in _below(os.fspath(path), root) if path.is_dir() else [_named(path)]:
            if len(paths) == 1:
                yield found
            elif found.path not in seen:
                seen.add(found.path)
                yield found


def _named(path: Path) -> FoundFile:
    return FoundFile(os.fspath(path), named=True)


def _below(folder: str, root: str) -> Iterator[FoundFile]:
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield FoundFile(folder, refused=f"cannot be read: {error.strerror}")
        return
    for entry in inside:
        if entry.is_symlink():
            yield from _link(entry.path, root)
        elif entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, root)
        elif not entry.is_file(follow_symlinks=False):
            yield FoundFile(entry.path, refused="no regular file")
        elif not _is_verdict(entry):
            yield FoundFile(entry.path)


def _link(path: str, root: str) -> Iterator[FoundFile]:
    """A link out of the folder is told; what one within it names is met where it stands."""
    target = os.path.realpath(path)
    if target != root and not target.startswith(os.path.join(root, "")):
        yield FoundFile(path, refused="a link out of the folder, not followed")


def _is_verdict(entry: os.DirEntry[str]) -> bool:
    """Whether it is the verdict that stands beside a run of ours."""
    beside = os.path.join(os.path.dirname(entry.path), "history.jsonl")
    return entry.name == "verdict.json" and os.path.exists(beside)
