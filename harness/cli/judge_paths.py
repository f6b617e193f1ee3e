"""The files that `judge` is given: the named ones, and every file below a folder.

The walk skips links: it meets targets in the folder anyway. It reports links out of the folder,
pipes and devices. It keeps no list, so a folder may hold any number of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.core.values.errors import InputError
from harness.files.regular_file import NO_FILE


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
        itself = FoundFile(os.fspath(path), named=True)
        for found in _below(itself.path, root) if path.is_dir() else [itself]:
            if len(paths) == 1:
                yield found
            elif found.path not in seen:
                seen.add(found.path)
                yield found


def _below(folder: str, root: str) -> Iterator[FoundFile]:
    """Walk with a list of folders: a path may be deeper than Python's stack."""
    begun = [_entries(folder)]
    while begun:
        entry = next(begun[-1], None)
        if entry is None:
            begun.pop()
        elif isinstance(entry, FoundFile):
            yield entry
        elif entry.is_symlink():
            yield from _link(entry.path, root)
        elif entry.is_dir(follow_symlinks=False):
            begun.append(_entries(entry.path))
        elif not entry.is_file(follow_symlinks=False):
            yield FoundFile(entry.path, refused=NO_FILE)
        elif not _is_verdict(entry):
            yield FoundFile(entry.path)


def _entries(folder: str) -> Iterator[os.DirEntry[str] | FoundFile]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield FoundFile(folder, refused=f"cannot be read: {error.strerror}")
        return
    yield from found


def _link(path: str, root: str) -> Iterator[FoundFile]:
    """Report a link out of the folder; the walk meets the target of any other one."""
    target = os.path.realpath(path)
    if target != root and not target.startswith(os.path.join(root, "")):
        yield FoundFile(path, refused="a link out of the folder, not followed")


def _is_verdict(entry: os.DirEntry[str]) -> bool:
    beside = os.path.join(os.path.dirname(entry.path), "history.jsonl")
    return entry.name == "verdict.json" and os.path.exists(beside)
