"""The working folder of a run: what is copied, what is linked, and that runs do not meet there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from harness import Brief
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.runner import run
from harness.runner.work_folder import FILES_MOST, FOLDER_FILES_MOST, working_folder
from harness.targets import TargetSpec, resolve
from tests.runner.programs import PRELUDE

TALK = Scenario(name="talk", inbox=(InboxItem(text="Hello."),), script=(Turn(say="Hello."),))


def keeps(brief: Brief) -> None:
    """Append each message to a file of the working folder, and tell what stands there."""
    for message in brief.inbox():
        said: list[Any] = [{"role": "user", "content": message.text}]
        brief.anthropic().messages.create(model="m", max_tokens=9, messages=said)
        with open("kept.txt", "a", encoding="utf-8") as file:
            file.write(message.text)
        brief.send(Path("kept.txt").read_text("utf-8"), in_reply_to=message.id)


def crashes(brief: Brief) -> None:
    """End with an error."""
    raise RuntimeError(os.getcwd())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _told(target: TargetSpec | Any, **more: bool) -> list[str]:
    done = run(TALK, target, **more)
    return [sending.request.text for sending in done.history.trace.sendings]


def test_what_a_run_leaves_in_its_folder_no_other_run_finds(here: Path) -> None:
    assert [_told(keeps, isolate=True) for _ in range(2)] == [["Hello."]] * 2
    assert not (here / "kept.txt").exists()


def test_a_target_may_play_in_the_folder_of_the_user(here: Path) -> None:
    shared = TargetSpec("t", "python", agent=keeps, options={"folder": "shared"})
    assert [_told(shared, isolate=True) for _ in range(2)] == [["Hello."], ["Hello.Hello."]]
    assert (here / "kept.txt").read_text() == "Hello.Hello."


def test_a_program_has_its_own_folder_if_it_says_so(here: Path) -> None:
    body = "for m in inbox(): open('kept.txt', 'a').write(ask(m['text'])); say(m, 'Done.')"
    (here / "program.py").write_text(PRELUDE + body)
    assert _told(resolve("process:python program.py?folder=own")) == ["Done."]
    assert not (here / "kept.txt").exists()
    assert _told(resolve("process:python program.py")) == ["Done."]
    assert (here / "kept.txt").exists()


def test_the_place_of_a_crash_is_told_from_the_folder_of_the_user(here: Path) -> None:
    (finding,) = run(TALK, crashes, isolate=True).verdict.findings[:1]
    assert str(here) not in str(finding.place)
    assert Path(os.getcwd()) == here


def test_files_and_small_folders_are_copied_and_the_rest_is_linked(here: Path) -> None:
    for name, files in (("small", 2), ("large", FOLDER_FILES_MOST + 1), ("code", 1)):
        (here / name).mkdir()
        for number in range(files):
            (here / name / f"{number}.txt").write_text("x")
    (here / "code" / "__init__.py").write_text("")
    (here / "note.txt").write_text("x")
    with working_folder(TargetSpec("t", "python", isolate=True)) as work:
        assert work is not None
        linked = {path.name: path.is_symlink() for path in work.iterdir()}
        (work / "small" / "0.txt").write_text("changed")
    assert linked == {"small": False, "large": True, "code": True, "note.txt": False}
    assert (here / "small" / "0.txt").read_text() == "x"
    assert not work.exists()


def test_a_folder_of_many_files_costs_no_more_than_its_bound(here: Path) -> None:
    for number in range(FILES_MOST + 20):
        (here / f"{number}.txt").write_text("x")
    with working_folder(TargetSpec("t", "python", isolate=True)) as work:
        assert work is not None
        assert sum(not path.is_symlink() for path in work.iterdir()) == FILES_MOST
