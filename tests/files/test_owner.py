"""The lock of a folder: the file that is held is the one that others see."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.files import owner as room
from harness.files.owner import out_lock

SECOND = """
import sys
from pathlib import Path
from harness.core.values.errors import InputError
from harness.files.owner import out_lock
try:
    with out_lock(Path(sys.argv[1])):
        print("held")
except InputError as error:
    print(error)
"""


def second(folder: Path) -> str:
    """What another process says that wants the folder."""
    told = [sys.executable, "-c", SECOND, str(folder)]
    return subprocess.run(told, capture_output=True, text=True, check=True).stdout


def test_a_second_process_is_told_who_writes_until_the_first_ends(tmp_path: Path) -> None:
    with out_lock(tmp_path):
        assert f"process {os.getpid()} writes here" in second(tmp_path)
    assert second(tmp_path) == "held\n"


def test_a_file_that_its_last_owner_removes_meanwhile_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the opening and the lock the owner ends: a lock on the removed file holds nothing."""
    removals = [tmp_path / room.LOCK]

    def locked(file: int, how: int) -> None:
        while removals:
            removals.pop().unlink()
        fcntl.lockf(file, how)

    monkeypatch.setattr(room, "fcntl", _Fcntl(locked))
    with out_lock(tmp_path):
        assert f"process {os.getpid()} writes here" in second(tmp_path)


class _Fcntl:
    """The module with another `lockf`."""

    LOCK_EX, LOCK_NB = fcntl.LOCK_EX, fcntl.LOCK_NB

    def __init__(self, lockf: object) -> None:
        self.lockf = lockf
