"""A walk takes each file once, follows no link, opens no pipe, and says what it leaves out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.cli.judge_task import FoundFile, files
from harness.core.values.errors import InputError


def _names(folder: Path, *paths: Path) -> list[str]:
    return [os.path.relpath(found.path, folder) for found in files(paths or (folder,))]


def test_files_come_in_order(tmp_path: Path) -> None:
    for name in ("b/z", "b/a", "a.txt", "c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert _names(tmp_path) == ["a.txt", "b/a", "b/z", "c"]


def test_each_file_comes_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    named = tmp_path / "a"
    assert list(files([named, tmp_path, named])) == [FoundFile(str(named), named=True)]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (outside / "secret").write_text("s")
    (folder / "a").write_text("a")
    (folder / "b").symlink_to(folder / "a")
    (folder / "c").symlink_to(outside / "secret")
    (folder / "d").symlink_to(outside)
    (folder / "e").symlink_to(folder)
    found = {os.path.basename(f.path): f.refused for f in files([folder])}
    told = "a link out of the folder, not followed"
    assert found == {"a": "", "c": told, "d": told}


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (found,) = files([tmp_path])
    assert found.refused == "no regular file"


def test_a_verdict_of_ours_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "verdict.json").write_text("{}")
    assert _names(tmp_path) == ["verdict.json"]
    (tmp_path / "history.jsonl").write_text("{}")
    assert _names(tmp_path) == ["history.jsonl"]


def test_a_path_that_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        list(files([tmp_path / "gone"]))
