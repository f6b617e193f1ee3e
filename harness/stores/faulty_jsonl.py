"""JSON Lines on a failing disk: real bytes, of which fewer arrive, and a sync that may be a lie.

A machine failure leaves what was synced, or, after out-of-order writes, the end of the rest after a
hole of zeros.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.stores.faulty_store import CarryOut, Medium, OwnWrite, WriteSteps
from harness.stores.jsonl import Disk, JsonlStore

_OF_A_PATH = frozenset({"EACCES", "ENOENT", "EROFS"})


class JsonlMedium(Medium, Disk):
    """The disk of a `JsonlStore`: it writes what the steps send, and syncs if they keep it."""

    def __init__(self, store: JsonlStore, carry_out: CarryOut) -> None:
        self.store, self.path, self.plain_step = store, store._path, carry_out
        store.disk = self
        self.steps = WriteSteps()
        self.synced_bytes = os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def records(self) -> list[bytes]:
        """The lines of the file; a torn last one is without its end."""
        data = Path(self.path).read_bytes() if os.path.exists(self.path) else b""
        *lines, torn = data.split(b"\n")
        return [line + b"\n" for line in lines] + ([torn] if torn else [])

    def lay(self, records: Sequence[bytes]) -> None:
        """Write the lines as they are."""
        Path(self.path).write_bytes(b"".join(records))

    def error(self, name: str) -> OSError:
        """The error of that name, with the system's own words. The path is told by its last part,
        for the folder of a run has another name each time."""
        number: int = getattr(errno, name)
        told = [os.path.basename(self.path)] if name in _OF_A_PATH else []
        return OSError(number, os.strerror(number), *told)

    def write_own(self, steps: WriteSteps, own: OwnWrite) -> Any:
        """Write what the steps send in place of the store's own."""
        self.carry_out(steps.before)
        self.steps, self.store.at_commit = steps, own.commit
        result = own.call()
        self.carry_out(steps.after)
        return result

    def write(self, descriptor: int, data: bytes) -> None:
        """Write what is sent, then carry out the steps that come before it counts."""
        super().write(descriptor, b"".join(self.steps.sent))
        self.carry_out(self.steps.inside)

    def sync(self, descriptor: int) -> None:
        """Sync, unless the disk only says so."""
        if self.steps.kept is None or self.steps.kept.how == "synced":
            super().sync(descriptor)
            self.synced_bytes = os.fstat(descriptor).st_size

    def lose(self, unsynced: str) -> None:
        """Cut off what is not synced; after out-of-order writes, the end of it stays."""
        with open(self.path, "rb+") as file:
            file.seek(self.synced_bytes)
            lost = file.read()
            file.truncate(self.synced_bytes)
            if unsynced == "reordered" and lost:
                hole = len(lost) // 2
                file.seek(self.synced_bytes)
                file.write(bytes(hole) + lost[hole:])
