"""A file is complete or unchanged, for any end of the writing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.files.regular_file import write_atomically


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.yaml"
    for data in (b"one", b"two"):
        write_atomically(path, data)
        assert path.read_bytes() == data
    assert [p.name for p in path.parent.iterdir()] == ["x.yaml"]


@pytest.mark.parametrize("call", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize(
    ("ends", "seen"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), InputError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_what_ends_the_writing_leaves_the_old_file_and_no_other(
    call: str,
    ends: BaseException,
    seen: type[BaseException],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def end(*_: object) -> None:
        raise ends

    path = tmp_path / "x.yaml"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, call, end)
    with pytest.raises(seen):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.yaml"]


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically(tmp_path / "file" / "x.yaml", b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically(tmp_path / "folder", b"x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]
