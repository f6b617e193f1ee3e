"""The world of a probe: each way to the user's own things leads into the copy.

Which places outside of a project its settings name.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scratch import entered, scratch_world
from harness.scratch.scratch_world import is_settings, of_text, of_variables

PROGRAM = """\
import os, pathlib, sqlite3, tempfile
sqlite3.connect(os.environ["DB"]).execute("create table x (y)")
for line in open(".env"):
    name, _, path = line.strip().partition("=")
    pathlib.Path(path).write_text("agent")
pathlib.Path("relative").touch()
pathlib.Path.home().joinpath(".cache").mkdir(exist_ok=True)
pathlib.Path.home().joinpath(".cache/agent").touch()
pathlib.Path(os.path.expanduser("~/state")).touch()
pathlib.Path(os.environ["XDG_STATE_HOME"], "agent").touch()
pathlib.Path(tempfile.gettempdir(), "agent").touch()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The start folder, and a home folder beside it."""
    folder, home = tmp_path / "my app", tmp_path / "home"
    for made in (folder, home):
        made.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("DB", str(folder / "app.db"))
    monkeypatch.chdir(folder)
    (folder / ".env").write_text(f"FILE={folder}/data.json\n")
    (folder / "program.py").write_text(PROGRAM)
    return folder


def files(*folders: Path) -> dict[str, bytes]:
    found = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in found}


def test_a_program_changes_nothing_of_the_user_s(project: Path, tmp_path: Path) -> None:
    before = files(tmp_path)
    with scratch_world(project) as world:
        subprocess.run([sys.executable, "program.py"], check=True, cwd=world.folder,
                       env={**os.environ, **world.env})  # fmt: skip
        assert {"app.db", "data.json", "relative"} <= {p.name for p in world.folder.iterdir()}
        assert files(tmp_path) == before
        assert [line for line in world.changed() if str(tmp_path) in line] == []
        world.renew()
        assert {p.name for p in world.folder.iterdir()} == {".env", "program.py"}
    assert files(tmp_path) == before
    assert not world.folder.exists()


def test_what_changes_all_the_same_is_named(project: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    (project / "data").symlink_to(outer)
    (project / "conf.ini").write_text(f"url = sqlite:///{tmp_path}/far.db\n")
    with scratch_world(project) as world:
        assert f"url of conf.ini:1 names {tmp_path}/far.db" in "\n".join(world.notes)
        assert f"data is a link to {outer}" in "\n".join(world.notes)
        (world.folder / "data" / "x").write_text("agent")
        (tmp_path / "far.db").write_text("agent")
        (project / "program.py").write_text("agent")
        (tmp_path / "home" / ".config").mkdir()
        (tmp_path / "home" / ".config" / "agent").touch()
        said = world.changed()
        assert [line.partition(" changed, by the agent or by another program")[0]
                for line in said if str(tmp_path) in line] == [
            f"{project}/program.py", f"{tmp_path}/far.db", f"{tmp_path}/home/.config/agent",
            f"{outer}/x",
        ]  # fmt: skip
        assert [line for line in world.changed() if str(tmp_path) in line] == []


def test_the_files_of_all_programs_are_one_line(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    found = import_module("harness.scratch.scratch_world")  # a function has its name
    monkeypatch.setattr(found, "TEMPORARY", (str(shared),))
    with scratch_world(project) as world:
        for name in "abc":
            (shared / name).touch()
        (project / "program.py").write_text("agent")
        assert [line.partition(" changed")[0] for line in world.changed()] == [
            f"{project}/program.py", f"{shared}/a, and 2 more beside it,",
        ]  # fmt: skip
        (shared / "d").touch()
        assert [line.partition(" changed")[0] for line in world.changed()] == [f"{shared}/d"]


def test_a_world_is_entered_and_left(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "src").mkdir()
    (project / "src" / "mine.py").touch()
    monkeypatch.setattr(sys, "path", [*sys.path, str(project / "src")])
    before = (dict(os.environ), os.getcwd(), [*sys.path], tempfile.gettempdir())
    with scratch_world(project) as world, entered(world):
        assert Path.cwd() == world.folder
        assert Path.home() != project.parent / "home"
        assert os.environ["DB"] == f"{world.folder}/app.db"
        assert sys.path[0] == str(world.folder / "src")
        assert world.told(f"at {world.folder}/x.py") == f"at {project}/x.py"
        assert Path(tempfile.gettempdir()).parent == Path.home().parent
    assert (dict(os.environ), os.getcwd(), [*sys.path], tempfile.gettempdir()) == before


def test_programs_of_a_version_manager_are_still_found(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    (Path.home() / ".pyenv").mkdir()
    with scratch_world(project) as world:
        assert world.env["PYENV_ROOT"] == str(project.parent / "home" / ".pyenv")
        assert "VOLTA_HOME" not in world.env


def test_what_is_told_is_one_line_each(project: Path, tmp_path: Path) -> None:
    (project / "a\n✓ forged").symlink_to(tmp_path / "b\x1b[2J\nc")
    with scratch_world(project) as world:
        (told,) = (note for note in world.notes if "forged" in note)
        assert told.startswith("a\\u000a✓ forged is a link to ")
        (tmp_path / "home" / "d\ne").touch()
        changed = world.changed()
    assert [line for line in changed if "d\\u000ae" in line]
    assert not [line for line in (*world.notes, *changed) if "\n" in line or "\x1b" in line]


APP = "/home/me/app"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("DATABASE_URL=postgresql://me:secret@db.example:5432/app?x=1", "postgresql://db.example:5432/app"),
        ('url = "mysql+pymysql://root@localhost/shop"', "mysql://localhost/shop"),
        ("  uri: mongodb+srv://u:p@cluster.example/", "mongodb://cluster.example"),
        ("REDIS_URL=redis://:pw@cache:6379/0", "redis://cache:6379/0"),
        ("DATABASE_URL=sqlite:////var/lib/app.db", "/var/lib/app.db"),
        ("DATABASE_URL=sqlite+aiosqlite:////home/me/other/app.db?x=y", "/home/me/other/app.db"),
        ('DB="sqlite:////home/me/my data/app.db"', "/home/me/my data/app.db"),
        ("DB_FILE: /home/me/my data/app.db", "/home/me/my data/app.db"),
        ("DB_FILE=/home/me/app-two/x.sqlite3", "/home/me/app-two/x.sqlite3"),
        ('engine = create_engine("postgresql://localhost/app")', "postgresql://localhost/app"),
    ],
)  # fmt: skip
def test_a_place_outside_is_told_without_its_password(line: str, shown: str) -> None:
    (place,) = set(of_text(".env", f"# a comment\n{line}\n", APP))
    assert (place.where, place.shown) == (".env:2", shown)
    assert "secret" not in f"{place}"


@pytest.mark.parametrize(
    "line",
    [
        "DATABASE_URL=sqlite:///app.db",
        "DATABASE_URL=sqlite:///./data/app.db",
        f"DATABASE_URL=sqlite:///{APP}/app.db",
        f"DB={APP}/data/x.db",
        "DB=sqlite://",
        "DB=data/x.db",
        "# DATABASE_URL=postgresql://db/app",
        "BASE=https://api.example/v1",
        "url: postgresql:///",
        "x" * 3000 + " postgresql://db/app",
    ],
)
def test_what_the_copy_covers_is_not_told(line: str) -> None:
    assert [*of_text(".env", line, APP)] == []


def test_the_environment_is_read_by_name() -> None:
    named = {"DATABASE_URL": "postgres://u:p@db/x", "PATH": "/usr/bin:/bin", "HOME": "/home/me"}
    (place,) = of_variables(named, APP)
    assert place == ("the environment", "DATABASE_URL", "postgres://db/x", "")


@pytest.mark.parametrize(
    ("name", "settings"),
    [(".env", True), ("conf/.env.local", True), ("app/settings.py", True), ("alembic.ini", True),
     ("README.md", False), ("package-lock.json", False), ("uv.lock", False), ("a.csv", False)],
)  # fmt: skip
def test_settings_and_sources_are_read(name: str, settings: bool) -> None:
    assert is_settings(name) == settings


@given(st.text())
def test_no_text_raises(text: str) -> None:
    for line in (text, f"DATABASE_URL=postgresql://{text}", f"a=sqlite:////{text}"):
        assert len([*of_text(".env", line, APP)]) <= 3 * len(line)
