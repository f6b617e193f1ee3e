"""Files of the user: read with bounded memory, written whole or not at all.

Only regular files are read: opening a pipe or device may block, and reading may never end.

The files below a folder come in the order of the names, for all code that reads folders. The walk
skips links: it meets targets in the folder anyway. It reports links out of the folder, pipes and
devices. It keeps no list, so a folder may hold any number of files.
"""

from __future__ import annotations

import gzip
import os
import stat
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

import msgspec

from harness.core.values.errors import InputError
from harness.files.owner import remove_unfinished, tag

ValueT = TypeVar("ValueT")

MAX_BYTES = 256 * 1024 * 1024
"""The most bytes of a file that is read whole."""

NO_FILE = "no regular file"
HEAD_BYTES = 1 << 16
_GZIP = b"\x1f\x8b"

TEXT_MAX_BYTES = 1024 * 1024
"""The most bytes of a configuration or a profile."""


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """A regular file, open for reading; raises InputError, naming it, when it cannot be read."""
    try:
        with open(_descriptor(path), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(NO_FILE, str(path))
            yield file
    except OSError as error:
        raise InputError("cannot be read", str(path), more=error.strerror or "") from None


def _descriptor(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except ValueError:  # a zero byte, or half of a surrogate pair
        raise InputError("no path of a file", repr(str(path))) from None


def changed_ns(path: str) -> int:
    """When a file was last written, in nanoseconds; raises OSError where it is not there.

    The last writes to a database in WAL mode stand in the log beside it, and its own time is that
    of the last checkpoint.
    """
    try:
        log = os.stat(f"{path}-wal").st_mtime_ns
    except OSError:
        log = 0
    return max(os.stat(path).st_mtime_ns, log)


def check_regular(path: Path) -> None:
    """Raise InputError unless a file that a library opens by its name is regular and small."""
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            raise InputError(f"larger than {MAX_BYTES} bytes", str(path))


def head_of(path: Path) -> bytes:
    """The beginning of what a file holds; raises InputError as `whole` does."""
    with opened(path) as file, _content(file, path) as content:
        return content.read(HEAD_BYTES)


def whole(path: Path, most_bytes: int = MAX_BYTES) -> bytes:
    """What a file holds; raises InputError as `opened` does, and for more than `most_bytes`.

    A file in gzip is unpacked: LangChain's tests keep cassettes so, and services their old logs.
    """
    with opened(path) as file, _content(file, path) as content:
        is_small = os.fstat(file.fileno()).st_size <= most_bytes
        data = content.read(most_bytes + 1) if is_small else b""
    if not is_small or len(data) > most_bytes:
        raise InputError(f"larger than {most_bytes} bytes", str(path))
    return data


def is_packed(file: BufferedReader) -> bool:
    """Whether an open file, of which nothing was read, is in gzip."""
    return file.peek(len(_GZIP)).startswith(_GZIP)


@contextmanager
def _content(file: BufferedReader, path: Path) -> Iterator[BufferedReader | gzip.GzipFile]:
    if not is_packed(file):
        yield file
        return
    try:
        with gzip.open(file) as unpacked:
            yield unpacked
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError("gzip is torn", str(path), more=str(error)) from None


def stored(path: Path, kind: type[ValueT], name: str) -> ValueT:
    """The value of a JSON file that the harness wrote; raises InputError for a file without one."""
    try:
        return msgspec.json.decode(whole(path), type=kind)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no {name}: {error}", str(path)) from None


def text_of(path: Path) -> str:
    """The text of a small file; raises InputError for one that cannot be read as UTF-8."""
    try:
        return whole(path, TEXT_MAX_BYTES).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", str(path)) from None


def check_writable(path: Path) -> None:
    """Raise InputError for a file that `write_atomically` could not write; nothing is left."""
    if path.is_dir():
        raise InputError("a folder; name a file", str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}{tag()}", dir=path.parent)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or "no path of a file"
        raise InputError(f"cannot be written: {what}", str(path)) from None
    os.close(handle)
    Path(name).unlink()


def write_atomically(path: Path, *parts: bytes | Iterable[bytes], durable: bool = True) -> None:
    """Write a file so that it is there whole or as it was; raises InputError.

    A `durable` file outlasts a loss of power as well, at the cost of a wait for the disk; what a
    killed process left of it is removed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if durable:
            remove_unfinished(path)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}{tag()}", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from None
    try:
        with open(handle, "wb") as file:
            for part in parts:
                file.writelines([part] if isinstance(part, bytes) else part)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from None
    finally:
        Path(name).unlink(missing_ok=True)


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
