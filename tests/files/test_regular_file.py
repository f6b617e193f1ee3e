"""Files of the user: nothing that never ends is opened, and nothing is read beyond its bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.files.regular_file import HEAD_BYTES, head_of, opened, whole


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert whole(path) == whole(path, 5) == head_of(path) == b"12345"
    with pytest.raises(InputError, match="larger than 4 bytes"):
        whole(path, 4)


def test_a_large_file_of_holes_costs_its_head(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    assert len(head_of(path)) == HEAD_BYTES
    with pytest.raises(InputError, match="larger than 1000 bytes"):
        whole(path, 1000)


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, says in [
        (pipe, "no regular file"),
        (Path(os.devnull), "no regular file"),
        (tmp_path, "directory"),
        (tmp_path / "gone", "No such file"),
    ]:
        with pytest.raises(InputError, match=says) as told, opened(path):
            pass
        assert told.value.place == str(path)
