"""Every file below a folder, in the order of the names, for all code that reads folders.

The walk skips links: it meets targets in the folder anyway. It reports links out of the folder,
pipes and devices. It keeps no list, so a folder may hold any number of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from harness.files.regular_file import NO_FILE

LINK_OUT = "a link out of the folder, not followed"


class FoundFile(msgspec.Struct, frozen=True):
    """A file: `named` by the user, or found in a folder; `refused` says why it is not opened."""

    path: str
    named: bool = False
    refused: str = ""


def files_below(folder: str) -> Iterator[FoundFile]:
    """Walk with a list of folders: a path may be deeper than Python's stack."""
    root = os.path.realpath(folder)
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
        else:
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
    """Report a link out of the folder or to nothing; the walk meets the target of any other."""
    target = os.path.realpath(path)
    if not os.path.exists(target):
        yield FoundFile(path, refused="a link to nothing")
    elif target != root and not target.startswith(os.path.join(root, "")):
        yield FoundFile(path, refused=LINK_OUT)
