"""What a failed call shows of the machine: each error here comes from the system itself."""

from __future__ import annotations

import errno
import os
import socket
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.core.values.errors import InputError, MachineLacks
from harness.processes.machine import full_disk, killed_for_memory, lack_of, own_call
from tests.limited_machine import file_size_most, fill, open_files_left, small_disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full, /proc and tmpfs")


def no_space(tmp_path: Path) -> None:
    with open("/dev/full", "wb", buffering=0) as full:
        full.write(b"x")


def no_files(tmp_path: Path) -> None:
    with open_files_left(0):
        os.open(os.devnull, os.O_RDONLY)


def no_growth(tmp_path: Path) -> None:
    with file_size_most(8), open(tmp_path / "file", "wb", buffering=0) as file:
        file.write(b"x" * 8)
        file.write(b"x")


def no_room_in_a_database(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "db", isolation_level=None)
    database.execute("pragma max_page_count = 2")
    database.execute("create table t (x)")
    database.execute("insert into t values (zeroblob(100000))")


def no_address(tmp_path: Path) -> None:
    with socket.socket() as made:
        made.bind(("192.0.2.1", 0))


def raised(call: Callable[[Path], None], folder: Path) -> Exception:
    with pytest.raises((OSError, sqlite3.Error)) as found:
        call(folder)
    return found.value


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (no_space, "no space is left on the disk"),
        (no_files, "no more files can be opened"),
        (no_growth, "a file may not grow further"),
        (no_room_in_a_database, "no space is left on the disk"),
    ],
)
def test_what_anybody_lacks(call: Callable[[Path], None], words: str, tmp_path: Path) -> None:
    error = raised(call, tmp_path)
    assert str(lack_of(error)).startswith(f"this machine: {words}; ")
    wrapped = InputError("cannot be written")
    wrapped.__context__ = error
    assert str(lack_of(wrapped)) == str(lack_of(error))


def test_an_address_is_lacking_for_the_harness_alone(tmp_path: Path) -> None:
    error = raised(no_address, tmp_path)
    assert lack_of(error) is None
    assert "127.0.0.1 cannot be used" in str(lack_of(error, ours=True))
    with pytest.raises(MachineLacks), own_call():
        no_address(tmp_path)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        MemoryError(),
        FileNotFoundError(errno.ENOENT, "no"),
        OSError([], "a number that is none"),
        BlockingIOError(errno.EAGAIN, "later"),
    ],
)
def test_other_errors_show_nothing(error: Exception) -> None:
    assert lack_of(error) is None
    error.__context__ = error
    assert lack_of(error) is None


def test_the_errors_of_our_own_calls_pass_as_they_are() -> None:
    with pytest.raises(FileNotFoundError), own_call():
        os.open("/no/such/file", os.O_RDONLY)
    with pytest.raises(RuntimeError, match="dictionary changed"), own_call():
        raise RuntimeError("dictionary changed size during iteration")


def test_a_full_disk_is_told_from_one_with_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        assert full_disk(disk) is None
        fill(disk)
        assert "no space is left" in str(full_disk(disk))
    assert full_disk(tmp_path / "absent") is None


def test_a_kill_for_memory_shows_in_the_count_of_the_kernel() -> None:
    assert killed_for_memory(2**62) is None
    assert "no memory is left" in str(killed_for_memory(-1))


def test_an_error_of_a_database_that_python_code_raises_shows_nothing() -> None:
    """It has no code: the attribute is set by the library alone."""
    assert lack_of(sqlite3.OperationalError("database or disk is full")) is None
