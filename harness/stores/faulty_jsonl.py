"""JSON Lines on a failing disk: real bytes, of which fewer arrive, and a sync that may be a lie.

A machine failure leaves what was synced, or, after out-of-order writes, the end of the rest after a
hole of zeros.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from typing import Any

from harness.core.values.plans import Raise, Step
from harness.stores.faulty_store import CarryOut, OwnWrite, WriteSteps, unsynced_loss
from harness.stores.jsonl import Disk, JsonlStore

_OF_A_PATH = frozenset({"EACCES", "ENOENT", "EROFS"})


def os_error(name: str, path: str) -> OSError:
    """The error of that name, with the system's own words. The path is told by its last part, for
    the folder of a run has another name each time."""
    number: int = getattr(errno, name)
    told = [os.path.basename(path)] if name in _OF_A_PATH else []
    return OSError(number, os.strerror(number), *told)


class FailingDisk(Disk):
    """A disk that writes what the steps send, and syncs if they keep it."""

    def __init__(self, path: str, carry_out: CarryOut) -> None:
        self._path, self._carry_out = path, carry_out
        self.steps = WriteSteps()
        self.synced_bytes = os.path.getsize(path) if os.path.exists(path) else 0

    def write(self, descriptor: int, data: bytes) -> None:
        """Write what is sent, then carry out the steps that come before it counts."""
        super().write(descriptor, b"".join(self.steps.sent))
        self.carry_out(self.steps.inside)

    def sync(self, descriptor: int) -> None:
        """Sync, unless the disk only says so."""
        if self.steps.kept is None or self.steps.kept.how == "synced":
            super().sync(descriptor)
            self.synced_bytes = os.fstat(descriptor).st_size

    def carry_out(self, steps: Sequence[Step]) -> None:
        """Carry out steps that are not bytes. Raises OSError."""
        for step in steps:
            if isinstance(step, Raise):
                raise os_error(step.error, self._path)
            if lost := unsynced_loss(step):
                self.lose(reordered=lost == "reordered")
            self._carry_out(step)

    def lose(self, *, reordered: bool) -> None:
        """Leave of the file what a failure of the machine leaves of it."""
        with open(self._path, "rb+") as file:
            file.seek(self.synced_bytes)
            unsynced = file.read()
            file.truncate(self.synced_bytes)
            if reordered and unsynced:
                hole = len(unsynced) // 2
                file.seek(self.synced_bytes)
                file.write(bytes(hole) + unsynced[hole:])


class JsonlMedium:
    """What a `JsonlStore` writes on."""

    def __init__(self, store: JsonlStore, path: str, carry_out: CarryOut) -> None:
        store.disk = self._disk = FailingDisk(path, carry_out)
        self._store = store

    def read(self, steps: WriteSteps, call: Callable[[], Any]) -> Any:
        """Read, unless the disk cannot."""
        self._disk.carry_out(steps.before)
        result = call()
        self._disk.carry_out(steps.after)
        return result

    def write(self, steps: WriteSteps, own: OwnWrite) -> Any:
        """Write what the steps send in place of the store's own."""
        self._disk.carry_out(steps.before)
        self._disk.steps, self._store.at_commit = steps, own.commit
        result = own.call()
        self._disk.carry_out(steps.after)
        return result
