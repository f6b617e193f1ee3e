"""Reads the files of a project for `harness init`, with bounds on number and size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from harness.core.values.errors import InputError
from harness.files.regular_file import whole
from harness.starter.project import is_code, is_read

FILES_MOST, FILE_BYTES_MOST = 2000, 1_000_000
"""The most files that are read, and the largest size of one."""

CODE_MOST = 20
"""The most files of code that are counted: one is enough for a folder with code."""

_INSTALLED = frozenset({"node_modules", "site-packages", "__pycache__"})
_PASSED_OVER = _INSTALLED | {"build", "dist", "venv", "env", "vendor"}


def project_texts(folder: Path) -> dict[str, str]:
    """Return the texts of a project's files, by their path below it.

    Installed packages, hidden folders and unreadable files are skipped. A file that is not UTF-8 is
    read as Latin-1: names and imports are the same in both.
    """
    found: dict[str, str] = {}
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if not name.isprintable() or not is_read(name):
            continue
        try:
            data = whole(path, FILE_BYTES_MOST)
        except InputError:
            continue
        found[name] = _text(data)
        if len(found) == FILES_MOST:
            break
    return found


def code_names(folder: Path) -> tuple[str, ...]:
    """Return the files of code in any language, the first ones, by their path below the folder."""
    names = (path.relative_to(folder).as_posix() for path in _walk(folder, _INSTALLED))
    return tuple(islice(filter(is_code, names), CODE_MOST))


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _walk(folder: Path, passed_over: frozenset[str] = _PASSED_OVER) -> Iterator[Path]:
    """Yield the files of a folder before those of the folders in it, in the order of the names."""
    waiting = [folder]
    for place in waiting:
        try:
            with os.scandir(place) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in inside:
            if entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False) and _is_walked(entry, passed_over):
                waiting.append(Path(entry.path))


def _is_walked(entry: os.DirEntry[str], passed_over: frozenset[str]) -> bool:
    is_environment = os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
    return not (entry.name.startswith(".") or entry.name in passed_over or is_environment)
