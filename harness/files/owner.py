"""Which process made or holds a file or folder; what a dead one left is removed.

A name holds the process id, the start of that process, and the namespace that the id belongs to. So
an id that is used again, or a container that shares the folder, is not mistaken for the owner.

One command at a time writes in a folder, or at a file: the second one says so. The lock is the
system's, and ends with its process however that ends. The file is removed at the end; what is left
of it after a kill holds nothing up.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from glob import escape
from pathlib import Path

from harness.core.values.errors import InputError
from harness.core.values.machine_names import SCRATCH_PREFIX

_OWNED = re.compile(r"\.own-(\d+)-(\d+)-(\d+)-")
KEPT_PREFIX = f"{SCRATCH_PREFIX}kept-"


def tag() -> str:
    """The part of a name that says that this process made it."""
    pid = os.getpid()
    return f".own-{pid}-{_start(pid)}-{_namespace()}-"


@contextmanager
def scratch_folder(kind: str = "") -> Iterator[Path]:
    """A temporary folder with an owner, gone at the end."""
    folder = make_scratch(kind)
    try:
        yield folder
    finally:
        try:
            folder.rmdir()
        except OSError:  # something is in it
            shutil.rmtree(folder, ignore_errors=True)


def make_scratch(kind: str = "") -> Path:
    """A temporary folder with an owner, whose maker removes it.

    The first one of a process also removes those of dead processes.
    """
    _remove_once(os.getpid())
    return Path(tempfile.mkdtemp(prefix=f"{SCRATCH_PREFIX}{kind}{tag()}"))


@lru_cache(maxsize=1)  # by process: a forked child has another id, and looks again
def _remove_once(pid: int) -> None:
    remove_dead()


def remove_unfinished(path: Path) -> None:
    """Remove what dead processes left of a file that they were writing."""
    names = path.parent.glob(f".{escape(path.name)}.own-*")
    for dead in list(_dead(names)):
        with suppress(OSError):
            dead.unlink()


def remove_dead(*roots: Path) -> int:
    """Remove what dead processes left: scratch folders, and unfinished files below the roots.

    Returns how many were removed.
    """
    dead = [*_dead(_scratch()), *_dead(path for root in roots for path in _hidden(root))]
    for path in dead:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()
    return len(dead)


def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.gettempdir())
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(SCRATCH_PREFIX) and not name.startswith(KEPT_PREFIX):
                yield folder / name


def _hidden(root: Path) -> Iterator[Path]:
    for below, _, names in os.walk(root):
        yield from (Path(below, name) for name in names if name.startswith("."))


def _dead(paths: Iterable[Path]) -> Iterator[Path]:
    namespace = _namespace()
    for path in paths:
        found = _OWNED.search(path.name)
        if found and found[3] == namespace and not _is_alive(int(found[1]), found[2]):
            yield path


def _is_alive(pid: int, start: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return _start(pid) in (start, "0") and not _is_zombie(pid)


def _stat(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` after the name; none where there is no such file."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()
    except OSError:
        return []


def _start(pid: int) -> str:
    """When a process began, in ticks since the boot; "0" where the system does not tell."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else "0"


def _is_zombie(pid: int) -> bool:
    return _stat(pid)[:1] == ["Z"]


def _namespace() -> str:
    try:
        return str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        return "0"


LOCK = ".lock"


@contextmanager
def out_lock(folder: Path, named: Path | None = None) -> Iterator[None]:
    """Hold a folder, which is made, and remove what dead processes left in it.

    Raises InputError where another process holds it, or where it cannot be made; it says the folder
    as the user `named` it.
    """
    with _held(folder / LOCK, named or folder, "folder"):
        remove_dead(folder)
        yield


@contextmanager
def file_lock(file: Path, named: Path) -> Iterator[None]:
    """Hold a file that is to be written; another command may write beside it.

    Raises InputError as `out_lock` does.
    """
    with _held(file.with_name(f".{file.name}{LOCK}"), named, "file"):
        yield


@contextmanager
def _held(path: Path, named: Path, kind: str) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _locked(path, named, kind)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(named)) from None
    try:
        yield
    finally:
        # Removed before it is unlocked: afterwards the name may belong to the next owner.
        with suppress(OSError):
            path.unlink()
        os.close(file)


def _locked(path: Path, named: Path, kind: str) -> int:
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_there(path, file):
                os.truncate(file, 0)
                os.write(file, str(os.getpid()).encode())
                return file
            os.close(file)  # the last owner has removed it since `open`: make a new one
        except (BlockingIOError, PermissionError):
            owner = os.read(file, 20).decode("ascii", "replace") or "another"
            os.close(file)
            what = f"process {owner} writes here: wait for it, or choose another {kind}"
            raise InputError(what, str(named)) from None


def _is_there(path: Path, file: int) -> bool:
    """Whether the file that is locked is still the one of this name: its last owner removes it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except OSError:
        return False
