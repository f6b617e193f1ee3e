"""The copy of a project: what is written into it stays there, installed packages apart."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from harness.core.values.errors import InputError
from harness.scratch import project_copy
from harness.scratch.project_copy import copy_project, with_paths


def unread(name: str, data: bytes) -> bytes:
    return data


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with code, data, packages, a repository, caches, and links."""
    folder = tmp_path / "Grüße app"
    for name in (".git", "src/pkg", "node_modules/x", ".venv/bin", "__pycache__", ".harness/runs"):
        (folder / name).mkdir(parents=True)
    (folder / ".venv" / "pyvenv.cfg").touch()
    for name in (".git/HEAD", "node_modules/x/index.js", "__pycache__/a.pyc", "src/pkg/a.py"):
        (folder / name).write_text("x")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o750)
    (folder / "app.db").write_bytes(b"SQLite\0")
    (tmp_path / "elsewhere").mkdir()
    (folder / "inner").symlink_to("src/pkg")
    (folder / "absolute").symlink_to(folder / "src")
    (folder / "outer").symlink_to(tmp_path / "elsewhere")
    (folder / "gone").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as one:
        before = os.getcwd()
        os.chdir(folder)
        try:
            one.bind("s")  # a path of a socket has 107 bytes at most
        finally:
            os.chdir(before)
    return folder


def test_what_is_copied_linked_and_left_out(project: Path, tmp_path: Path) -> None:
    to = tmp_path / "scratch" / "project" / "app"
    made = copy_project(project, to, unread)
    assert {path.name for path in to.iterdir()} == {
        "src", "node_modules", ".venv", "run.sh", "app.db", "inner", "absolute", "outer", "gone",
    }  # fmt: skip
    assert (to / "node_modules").resolve() == project / "node_modules"
    assert (to / ".venv").resolve() == project / ".venv"
    assert (to / "inner").resolve() == to / "src" / "pkg"
    assert (to / "absolute").resolve() == to / "src"
    assert (to / "outer").resolve() == tmp_path / "elsewhere"
    assert made.links == (project / "outer",)
    assert made.left_out == ()
    assert (to / "run.sh").stat().st_mode & 0o777 == 0o750
    assert (to / "app.db").stat().st_mtime_ns == (project / "app.db").stat().st_mtime_ns


def test_what_is_written_into_the_copy_stays_there(project: Path, tmp_path: Path) -> None:
    to = tmp_path / "copy" / "app"
    copy_project(project, to, unread)
    for name in ("app.db", "src/pkg/a.py", "inner/a.py", "absolute/pkg/a.py", "new"):
        (to / name).write_text("changed")
    assert (project / "app.db").read_bytes() == b"SQLite\0"
    assert (project / "src/pkg/a.py").read_text() == "x"
    assert not (project / "new").exists()


def test_a_read_only_project_has_a_copy_to_write_in(project: Path, tmp_path: Path) -> None:
    (project / "src").chmod(0o555)
    (project / "app.db").chmod(0o444)
    to = tmp_path / "copy" / "app"
    try:
        copy_project(project, to, unread)
    finally:
        (project / "src").chmod(0o755)
    (to / "src" / "new").touch()
    (to / "app.db").unlink()


@pytest.mark.parametrize(
    ("bound", "most", "told"),
    [("FILES_MOST", 2, "more than 2 files"), ("BYTES_MOST", 3, "more than 0 MB")],
)
def test_a_project_beyond_the_bounds_is_refused_with_a_way_on(
    bound: str, most: int, told: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_copy, bound, most)
    to = tmp_path / "copy" / "app"
    with pytest.raises(InputError) as caught:
        copy_project(project, to, unread)
    assert told in caught.value.what
    assert "start in a smaller folder, or play in this one, for real, with --in-place" in (
        caught.value.what
    )
    assert not to.exists()


def test_a_file_that_is_too_large_is_left_out_and_named(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_copy, "FILE_BYTES_MOST", 6)
    made = copy_project(project, tmp_path / "copy" / "app", unread)
    assert made.left_out == ("app.db", "run.sh")


def test_a_copy_below_its_project_is_not_copied(project: Path) -> None:
    to = project / "tmp" / "scratch" / "project" / "app"
    copy_project(project, to, unread)
    assert (to / "tmp" / "scratch").exists()
    assert not (to / "tmp" / "scratch" / "project").exists()


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("DB=/old/app/x.db", "DB=/new/x.db"),
        ("/old/app", "/new"),
        ('"/old/app"', '"/new"'),
        ("sqlite:////old/app/x.db", "sqlite:////new/x.db"),
        ("/old/app-two/x", "/old/app-two/x"),
        ("/old/app2", "/old/app2"),
        ("/old/app/x\0", "/old/app/x\0"),
        ("nothing", "nothing"),
    ],
)
def test_paths_of_the_project_lead_into_the_copy(text: str, changed: str) -> None:
    assert with_paths(text.encode(), "/old/app", "/new").decode() == changed


@pytest.mark.parametrize("becomes", ["pipe", "large"])
def test_a_file_that_becomes_another_one_while_it_is_copied_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, becomes: str
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    with (folder / "large").open("wb") as file:
        file.truncate(project_copy.TEXT_BYTES_MOST + 1)
    found = project_copy.Entry(becomes, "file", 1)
    monkeypatch.setattr(project_copy, "entries", lambda *_: iter([found]))
    assert copy_project(folder, tmp_path / "copy", unread).left_out == (becomes,)
