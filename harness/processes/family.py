"""Ends the processes that a program under test leaves behind, also those in their own sessions.

Each process of a run has the run's session folder in its environment. A child may clear its
environment, so on Linux this process also adopts orphans while a program runs
(`PR_SET_CHILD_SUBREAPER`). A guardian process ends the family if this process is killed. On other
systems only the program's own group is ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from harness.processes import guardian
from harness.processes.machine import own_call
from harness.processes.proc import children, read

_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
_ROUNDS_MAX = 50
"""How often the family is searched, because a process may fork while it is being ended."""

IS_LINUX = sys.platform == "linux"


@contextmanager
def family(marker: str, *, adopts: bool = True) -> Iterator[None]:
    """End every process of a run after the block; `marker` is an entry of their environment.

    Without `adopts`, orphans that have cleared it are left alone, because they may belong to a
    program that outlives its run.
    """
    if not IS_LINUX:
        yield
        return
    before, adopted = _children(), _adopt(True) if adopts else True
    guard = guardian_of(marker)
    try:
        yield
    finally:
        _end(marker, before if adopts else None)
        guard.kill()
        guard.wait()
        if guard.stdin is not None:
            guard.stdin.close()
        if not adopted:
            _adopt(False)


def guardian_of(marker: str, grace_s: float = 0.0) -> subprocess.Popen[bytes]:
    """Start a process that ends the family when this process ends and so closes the pipe.

    The family has `grace_s` seconds to end by itself. Without `/proc` the family are the processes
    whose numbers are written into the pipe, a line each.
    """
    with own_call():
        return subprocess.Popen(
            [sys.executable, "-I", "-S", guardian.__file__, marker, str(grace_s)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env={},
        )  # fmt: skip


def end_family(marker: str) -> None:
    """End every process that has this entry in its environment."""
    if IS_LINUX:
        _end(marker, None)


def _end(marker: str, before: frozenset[int] | None) -> None:
    for _ in range(_ROUNDS_MAX):  # a process may have started another one before it was ended
        left = {*guardian.marked(marker), *(() if before is None else _orphans(before))}
        if not left:
            return
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            with suppress(OSError):  # only our own children can be waited for
                os.waitpid(pid, 0 if pid in _children() else os.WNOHANG)


def _orphans(before: frozenset[int]) -> set[int]:
    """Return the children that this process adopted since: those in another session."""
    return {pid for pid in _children() - before if _is_adopted(pid)}


def _is_adopted(pid: int) -> bool:
    try:
        return os.getsid(pid) != os.getsid(0) and not _is_guardian(pid)
    except OSError:
        return False


def _is_guardian(pid: int) -> bool:
    return guardian.__file__.encode() in read(f"/proc/{pid}/cmdline")


def _children() -> frozenset[int]:
    return frozenset(children(os.getpid()))


def _adopt(wanted: bool) -> bool:
    """Adopt orphans from now on, or stop; return whether this process did so before."""
    call, before = ctypes.CDLL(None, use_errno=True).prctl, ctypes.c_int()
    call(_GET_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    call(_SET_SUBREAPER, int(wanted), 0, 0, 0)
    return bool(before.value)
