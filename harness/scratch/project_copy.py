"""The copy of a project: what is copied, what is linked, what is left out, and within which bounds.

An agent writes into its folder, so a link would let it change the user's files. Only folders of
installed packages are linked: they are large, and programs read them.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness.core.values.errors import InputError
from harness.files.regular_file import whole

FILES_MOST, BYTES_MOST = 50_000, 1_000_000_000
"""The most files of a copy, and the most bytes."""

FILE_BYTES_MOST = 256_000_000
"""A larger file is left out: the weights of a model, an archive."""

TEXT_BYTES_MOST = 1_000_000
"""The largest file in which paths of the project are put right."""

_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".harness", "__pycache__", ".mypy_cache", ".ruff_cache", ".tox", ".nox"}
    | {".pytest_cache", ".hypothesis"}
)
_WAY_ON = "start in a smaller folder, or play in this one, for real, with --in-place"


class Entry(NamedTuple):
    """A part of a project: its path below the folder, what becomes of it, and its size."""

    name: str
    kind: str
    size: int = 0


class Copy(NamedTuple):
    """What a copy does not hold: files that are left out, and links that lead outside."""

    left_out: tuple[str, ...]
    links: tuple[Path, ...]


def entries(folder: Path, aside: Path | None = None) -> Iterator[Entry]:
    """Yield folders, files and links of a project, each folder before what is in it.

    `kind` is `folder`, `file`, `link`, or `packages` for a folder that is linked. `aside` is not
    entered: the copy itself may stand below the project.
    """
    waiting = [""]
    for below in waiting:
        try:
            with os.scandir(folder / below) as found:
                inside = sorted(found, key=lambda entry: entry.name)
        except OSError:  # the agent cannot read it either
            continue
        for entry in inside:
            name = os.path.join(below, entry.name)
            if entry.name in _LEFT_OUT or entry.path == str(aside):
                continue
            one = _entry(entry, name)
            if one is None:
                continue
            yield one
            if one.kind == "folder":
                waiting.append(name)


def _entry(entry: os.DirEntry[str], name: str) -> Entry | None:
    if entry.is_symlink():
        return Entry(name, "link")
    if entry.is_dir(follow_symlinks=False):
        is_environment = os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
        is_packages = is_environment or entry.name in ("node_modules", "site-packages")
        return Entry(name, "packages" if is_packages else "folder")
    if entry.is_file(follow_symlinks=False):
        return Entry(name, "file", entry.stat(follow_symlinks=False).st_size)
    return None  # a pipe, a socket, a device


def copy_project(folder: Path, to: Path, read: Callable[[str, bytes], bytes]) -> Copy:
    """Copy a project to a new folder.

    `read` gets the name and the bytes of each small file, and returns what is written. Raises
    InputError, before anything is copied, for a project beyond the bounds.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    found = list(_bounded(folder, to))
    left_out, links = list[str](), list[Path]()
    to.mkdir()
    for one in found:
        source, target = folder / one.name, to / one.name
        if one.kind == "folder":
            target.mkdir()
        elif one.kind == "packages":
            target.symlink_to(source)
        elif one.kind == "link":
            links += _copy_link(source, target, folder, to)
        elif one.size > FILE_BYTES_MOST or not _copy_file(source, target, one, read):
            left_out.append(one.name)
    return Copy(tuple(left_out), tuple(links))


def _bounded(folder: Path, to: Path) -> Iterator[Entry]:
    files = total = 0
    sizes: Counter[str] = Counter()
    for one in entries(folder, to.parent):
        copied = one.size if one.size <= FILE_BYTES_MOST else 0
        files, total = files + (one.kind == "file"), total + copied
        sizes[one.name.partition(os.sep)[0]] += copied or 1
        if files > FILES_MOST or total > BYTES_MOST:
            most = f"{FILES_MOST:,} files" if files > FILES_MOST else f"{BYTES_MOST // 10**6:,} MB"
            largest = ", ".join(name for name, _ in sizes.most_common(3))
            what = f"too large for a copy to play in: more than {most}, most in {largest}"
            raise InputError(f"{what}; {_WAY_ON}", str(folder))
        yield one
    if total > shutil.disk_usage(to.parent).free:
        what = f"no room for a copy of {total // 10**6:,} MB in {to.parent}"
        raise InputError(f"{what}: name another folder by TMPDIR; or {_WAY_ON}", str(folder))


def _copy_file(source: Path, target: Path, one: Entry, read: Callable[[str, bytes], bytes]) -> bool:
    """Whether a file could be copied, with its mode; the agent cannot read another one either."""
    try:
        if one.size > TEXT_BYTES_MOST:
            shutil.copyfile(source, target)
        else:
            target.write_bytes(read(one.name, whole(source, TEXT_BYTES_MOST)))
        os.chmod(target, stat.S_IMODE(source.stat().st_mode) | stat.S_IRUSR)
        os.utime(target, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    except (OSError, InputError):  # another kind of file, or a larger one, may stand there by then
        return False
    return True


def _copy_link(source: Path, target: Path, folder: Path, to: Path) -> Iterator[Path]:
    """Make a link that leads to the same part of the copy; yield one that leads outside."""
    real = Path(os.path.realpath(source))
    if real.is_relative_to(folder):
        target.symlink_to(os.path.relpath(to / real.relative_to(folder), target.parent))
    else:
        target.symlink_to(real)
        yield source


def with_paths(data: bytes, old: str, new: str) -> bytes:
    """The bytes of a text in which a path, and what is below it, stands below another folder."""
    found = os.fsencode(old)
    if found not in data or b"\0" in data:
        return data
    return re.sub(re.escape(found) + rb"(?![\w.-])", lambda _: os.fsencode(new), data)
