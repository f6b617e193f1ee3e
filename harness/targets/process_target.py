"""A target that is a program: it runs in its own process group, and is ended with the group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import IO

from harness.core.values.errors import InputError
from harness.processes.machine import lack_of
from harness.targets.output_capture import OUTPUT_MAX_BYTES, end_bytes, output_end
from harness.targets.spec import TargetSpec

GRACE_S = 2.0
"""The time limit for a program to end after SIGTERM."""

TEXT_MAX = 2000
"""The most bytes of a program's output in a finding, from the end."""


def start_program(
    target: TargetSpec, env: dict[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a program in its own process group.

    Raises InputError when it cannot be started, and MachineLacks when nothing can.
    """
    try:
        return subprocess.Popen(
            target.command, env=env, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except OSError as error:
        if lack := lack_of(error, ours=True):
            raise lack from None
        what = f"cannot be started: {error.strerror}"
        raise InputError(what, f"target {target.text!r}") from None


def end_program(child: subprocess.Popen[bytes]) -> None:
    """End a program and its children, if they still run: SIGTERM, then SIGKILL to the group."""
    if child.poll() is None:
        signal_group(child, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):  # SIGKILL follows in any case
            child.wait(GRACE_S)
    signal_group(child, signal.SIGKILL)
    child.wait()


def signal_group(child: subprocess.Popen[bytes] | None, number: signal.Signals) -> None:
    """Send a signal to a program and its children, if they still run."""
    if child is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)


def output_tail(output: IO[bytes]) -> str:
    """Return the last lines that a program wrote, for the finding."""
    return output_end(output, TEXT_MAX).strip()


def size_of(output: IO[bytes]) -> int:
    """Return how many bytes a program has written."""
    return os.fstat(output.fileno()).st_size


def pass_on(output: IO[bytes], since: int = 0) -> None:
    """Write what a program printed after its first `since` bytes to descriptor 1, as if it had
    inherited that: it is captured there, or seen; of much output only the end."""
    data = end_bytes(output, OUTPUT_MAX_BYTES, since)
    with contextlib.suppress(OSError):  # its reader has gone
        while data:
            data = data[os.write(1, data) :]
