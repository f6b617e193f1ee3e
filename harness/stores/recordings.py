"""Recordings in files, whatever holds them: text is read by `load`, a database by its own store.

A database is no recording by its bytes alone, for the last of what was written may stand in a log
beside it; so it is told by its first bytes and opened by its name.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from harness.files.recording_file import read_recording
from harness.recordings.readers import hermes
from harness.recordings.transcripts import Recording
from harness.stores.hermes import read_database


def read_file(path: Path, kind: str = "auto") -> Recording:
    """The recording in a file; `kind` is the name of a format or `auto`.

    Raises InputError, naming the file, for one that cannot be read.
    """
    if kind == "hermes" or (kind == "auto" and _is_database(path)):
        return read_database(path)
    return read_recording(path, kind)


def _is_database(path: Path) -> bool:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return regular and hermes.is_hermes(file.read(len(hermes.MAGIC)))
    except OSError:
        return False
