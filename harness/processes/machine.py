"""What this machine lacks for a run: disk space, open files, memory, processes, an address.

Such a lack says nothing about the agent, also where the agent's own call fails. A run that meets
one is unknown, with the reason and what to do about it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from harness.core.values.errors import MachineLacks
from harness.core.values.table_file import table
from harness.processes.proc import read


class Lack(msgspec.Struct, frozen=True):
    """What a failed call shows, by the name of its error, and what to do about it."""

    error: str
    what: str
    remedy: str


_LACKS = {
    getattr(errno, name): (row.what, row.remedy)
    for name, row in table(__package__, "lacks.tsv", Lack).items()
}
"""What a failed call shows, by its number. A MemoryError is not here: `bytes(10**15)` raises it on
every machine."""

_OWN_CALLS = frozenset({errno.EAGAIN, errno.EADDRNOTAVAIL, errno.EADDRINUSE})
"""Numbers that only a call of the harness may show: an agent may bind an address that is not
this machine's, and a socket that does not wait says EAGAIN."""


def lack(number: int) -> MachineLacks:
    """Return what the number of a failed call shows."""
    return MachineLacks(number, *_LACKS[number])


def lack_of(error: BaseException, *, ours: bool = False) -> MachineLacks | None:
    """Return the lack behind an error, or behind the one that it was raised from; None for none.

    `ours`: a call of the harness itself has failed.
    """
    numbers = _LACKS.keys() if ours else _LACKS.keys() - _OWN_CALLS
    seen: BaseException | None = error
    for _ in range(_CHAIN_MOST):
        if seen is None:
            return None
        if isinstance(seen, MachineLacks):
            return seen
        if isinstance(seen, OSError) and isinstance(seen.errno, int) and seen.errno in numbers:
            return lack(seen.errno)
        # An error that Python code raises, as the stores under fault do, has no code.
        if getattr(seen, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            return lack(errno.ENOSPC)
        seen = seen.__context__ if seen.__cause__ is None else seen.__cause__
    return None


_CHAIN_MOST = 50
"""A chain of errors may be a circle, because any code can set its links."""


@contextmanager
def own_call() -> Iterator[None]:
    """Raise MachineLacks for what this machine lacks for a call of the harness in the block.

    Python reports a thread that cannot be started as a RuntimeError.
    """
    try:
        yield
    except OSError as error:
        raise lack_of(error, ours=True) or error from None
    except RuntimeError as error:
        if "can't start new thread" in str(error):
            raise lack(errno.EAGAIN) from error
        raise


def full_disk(folder: Path) -> MachineLacks | None:
    """Return the lack of a folder whose disk has no room.

    A program does not tell the number of the error that it ends with, so the disk is asked.
    """
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    free = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    return lack(errno.ENOSPC) if found.f_blocks and not free else None


def out_of_memory_kills() -> int:
    """Return how many processes the kernel has killed because no memory was left; 0 if unknown."""
    lines = read("/proc/vmstat").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(b"oom_kill ")), 0)


def killed_for_memory(kills_before: int) -> MachineLacks | None:
    """Return why a process that a SIGKILL has ended may have been killed by the kernel."""
    return lack(errno.ENOMEM) if out_of_memory_kills() > kills_before else None


def few_files(connections_most: int) -> MachineLacks:
    """Return the lack of a server that its limit of open files lets hold so few connections."""
    what, remedy = _LACKS[errno.EMFILE]
    told = f"{what}: a server holds {connections_most} connections here"
    return MachineLacks(errno.EMFILE, told, remedy)
