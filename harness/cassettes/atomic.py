"""Files that are there whole or not at all, whatever ends the process in between."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from harness.core.values.errors import InputError


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or as it was; raises InputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from None
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from None
    finally:
        Path(name).unlink(missing_ok=True)
