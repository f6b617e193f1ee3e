"""The working folder of a run: a copy of the files and small folders of the user's working folder.

An agent may keep its session in the folder in which it starts. There it would meet what another run
has left, or a line that two runs have torn. A whole copy of a project for each run would cost
seconds. So files and small folders are copied, and all else is linked: packages, environments, and
folders with many files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.files.owner import scratch_folder
from harness.targets import TargetSpec

FILES_MOST, BYTES_MOST = 200, 8_000_000
"""The most files and bytes of a copy, 20 ms; a small project takes 1 ms. What comes after them is
linked."""

FOLDER_FILES_MOST = 50
"""A folder with more files is linked: it rather holds programs than sessions."""

_LEFT_OUT = (".harness", "__pycache__")
_OF_PROGRAMS = ("__init__.py", "pyvenv.cfg", "package.json")
"""A folder with one of these is linked: the agent's own modules are already imported."""


@contextmanager
def working_folder(target: TargetSpec) -> Iterator[Path | None]:
    """A folder for one run, gone at the end; None for a target that plays in the user's folder.

    The option `folder` says which; without it a Python target in a forked child has its own folder.
    A program has not, because it may be built or started from files that a copy does not hold.
    """
    if target.options.get("folder", "own" if target.isolate else "shared") != "own":
        yield None
        return
    with scratch_folder("work-") as parent:
        yield _copied(Path.cwd(), parent)


def _copied(source: Path, parent: Path) -> Path:
    work = parent / (source.name or "work")
    work.mkdir()
    files, size = FILES_MOST, BYTES_MOST
    for entry in sorted(os.scandir(source), key=lambda entry: (entry.is_dir(), entry.name)):
        if entry.name in _LEFT_OUT:
            continue
        # A temporary folder below the project holds the copy, and those of runs beside this one.
        is_around = parent.is_relative_to(entry.path)
        found = [] if is_around else list(_files(entry, min(files, FOLDER_FILES_MOST)))
        bytes_of = sum(map(_size_bytes, found))
        if is_around or not _is_copied(entry, found) or len(found) > files or bytes_of > size:
            (work / entry.name).symlink_to(entry.path)
            continue
        files, size = files - len(found), size - bytes_of
        with suppress(OSError, shutil.Error):  # the agent cannot read it either
            _copy(entry, work / entry.name)
    return work


def _files(entry: os.DirEntry[str], most: int) -> Iterator[os.DirEntry[str]]:
    """Yield the files of an entry, and one more than `most` at most."""
    waiting, left = [entry], most
    for one in waiting:
        if not one.is_dir(follow_symlinks=False):
            yield one
            left -= 1
        elif left >= 0:
            with suppress(OSError):
                waiting += os.scandir(one.path)
        if left < 0:
            return


def _size_bytes(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:  # another program has removed it
        return 0


def _is_copied(entry: os.DirEntry[str], found: list[os.DirEntry[str]]) -> bool:
    if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
        return False
    names = {one.name for one in found}
    return entry.is_file() or (len(found) <= FOLDER_FILES_MOST and names.isdisjoint(_OF_PROGRAMS))


def _copy(entry: os.DirEntry[str], to: Path) -> None:
    if entry.is_dir():
        shutil.copytree(entry.path, to, symlinks=True)
    else:
        shutil.copy2(entry.path, to)
