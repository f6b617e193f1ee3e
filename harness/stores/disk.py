"""How a store of files writes: all of the bytes, then a sync. A place where a disk can fail."""

from __future__ import annotations

import os


class Disk:
    """The machine's own disk."""

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of the data. Raises OSError, and then a part of it may be written."""
        while data:
            data = data[os.write(descriptor, data) :]

    def sync(self, descriptor: int) -> None:
        """Return when what was written outlives a failure of the machine."""
        os.fsync(descriptor)
