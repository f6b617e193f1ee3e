"""`harness init` leaves the user's things as they are, and says what it cannot keep as it is."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from harness.cli import project_plan
from tests.cli.talks import Command, Done
from tests.cli.test_init import init as init
from tests.cli.test_init import written

APP = """\
import os, pathlib, sqlite3
from openai import OpenAI

pathlib.Path("imported").touch()
for line in open(".env"):
    name, _, value = line.strip().partition("=")
    os.environ.setdefault(name, value)
DB = sqlite3.connect(os.environ["DATABASE_URL"].removeprefix("sqlite:///"), check_same_thread=False)
DB.execute("create table if not exists chat (role text, content text)")


def answer(text: str) -> str:
    rows = DB.execute("select role, content from chat").fetchall()
    asked = [{"role": role, "content": said} for role, said in rows]
    asked.append({"role": "user", "content": text})
    said = OpenAI().chat.completions.create(model="m", messages=asked).choices[0].message.content
    for role, words in (("user", text), ("assistant", said)):
        DB.execute("insert into chat values (?, ?)", (role, words))
    DB.commit()
    pathlib.Path.home().joinpath(".app").touch()
    with open(os.environ["LOG"], "a") as file:
        file.write(said)
    return said
"""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
        ) -> Path:  # fmt: skip
    """An application with a database, which one row is in already, and a log outside."""
    other = tmp_path_factory.mktemp("other")
    (other / "home").mkdir()
    monkeypatch.setenv("HOME", str(other / "home"))
    monkeypatch.setenv("LOG", str(other / "home" / "log"))
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "requirements.txt").write_text("openai\n")
    (tmp_path / ".env").write_text("DATABASE_URL=sqlite:///app.db\nPG=postgresql://me:pw@db/x\n")
    with sqlite3.connect(tmp_path / "app.db") as db:
        db.execute("create table chat (role text, content text)")
        db.execute("insert into chat values ('user', 'mine')")
    return tmp_path


def rows(folder: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(folder / "app.db") as db:
        return db.execute("select * from chat").fetchall()


def objects(done: Done) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]


def test_a_dry_run_plays_nothing_and_is_short(init: Command, app: Path) -> None:
    before = written(app)
    done = init("--dry-run")
    assert done.status == 0, done.err
    assert len(done.out.splitlines()) + len(done.err.splitlines()) <= 60
    assert "to be written    harness_agent.py" in done.out
    assert "nothing is written" in done.out
    assert written(app) == before
    texts = {row["path"]: str(row["text"]) for row in objects(init("--dry-run", "--json"))}
    assert "TOLD" in texts["harness_agent.py"]
    assert 'target = "harness_agent:agent?mount=true"' in texts["harness.toml"]


def test_no_source_for_other_machines_is_no_workflow(
    init: Command, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_plan, "harness_source", lambda folder, files: "")
    said = init("--dry-run").out
    assert "not written" in said.partition(".github/workflows/harness.yml")[0].splitlines()[-1]
    assert "no other machine has the source of this loop-harness: name one by --requirement" in said
    (row,) = (r for r in objects(init("--dry-run", "--json", "--requirement", "loop-harness @ x"))
              if r["path"] == ".github/workflows/harness.yml")  # fmt: skip
    assert 'HARNESS: "loop-harness @ x"' in str(row["text"])


@pytest.mark.real
def test_init_leaves_the_database_and_its_red_is_not_of_its_own_rows(
    init: Command, app: Path
) -> None:
    before = written(app)
    done = init()
    assert done.status == 0, done.err
    assert rows(app) == [("user", "mine")]
    assert {name: written(app)[name] for name in before} == before
    assert not (app / "imported").exists()
    assert not Path.home().joinpath(".app").exists()
    assert "PG of .env:2 names postgresql://db/x: what the agent writes there stays" in done.err
    log = f"attention, outside of the copy: {Path.home() / 'log'} changed, by the agent or"
    told, _, red = done.out.partition("$ harness run")
    assert log in told
    history = next((app / ".harness" / "runs").rglob("history.jsonl")).read_text()
    assert "mine" in history
    assert "My name is" not in history
    assert red


@pytest.mark.real
def test_a_dry_run_may_probe_and_leaves_nothing_either(init: Command, app: Path) -> None:
    before = written(app)
    done = init("--dry-run", "--probe")
    assert "probes: it speaks openai-chat" in done.out
    assert len(done.out.splitlines()) <= 60
    assert written(app) == before
    assert rows(app) == [("user", "mine")]


@pytest.mark.real
def test_in_place_plays_in_the_folder_itself(init: Command, app: Path) -> None:
    init("--in-place")
    assert len(rows(app)) > 1
    assert Path.home().joinpath(".app").exists()
