"""One command at a time writes in a folder, or at a file: the second one says so.

The lock is the system's, and ends with its process however that ends. The file is removed at the
end; what is left of it after a kill holds nothing up.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.core.values.errors import InputError
from harness.files.owner import remove_dead

NAME = ".lock"


@contextmanager
def out_lock(folder: Path, named: Path | None = None) -> Iterator[None]:
    """Hold a folder, which is made, and remove what dead processes left in it.

    Raises InputError where another process holds it, or where it cannot be made; it says the folder
    as the user `named` it.
    """
    with _held(folder / NAME, named or folder, "folder"):
        remove_dead(folder)
        yield


@contextmanager
def file_lock(file: Path, named: Path) -> Iterator[None]:
    """Hold a file that is to be written; another command may write beside it.

    Raises InputError as `out_lock` does.
    """
    with _held(file.with_name(f".{file.name}{NAME}"), named, "file"):
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
