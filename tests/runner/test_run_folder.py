"""What stays of a run on disk."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

import msgspec
import pytest

from harness.core.history.history import decode, encode
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values.profile import profile_of
from harness.core.values.verdict import Verdict
from harness.runner import run, run_folder
from tests.runner import agents

HELLO = Scenario(
    name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello to you."),)
)


@pytest.mark.parametrize(
    ("changes", "folder"),
    [
        ({}, "hello/baseline"),
        ({"stream": True}, "hello/baseline+stream"),
        ({"variant": "late", "wire": "openai-chat"}, "hello/late@openai-chat"),
    ],
)
def test_a_run_has_a_folder_of_its_own(changes: dict[str, object], folder: str) -> None:
    scenario = msgspec.structs.replace(HELLO, **changes)
    found = run_folder.folder_for(Path("out"), scenario)
    assert found == Path("out") / folder
    assert run_folder.run_of(found) == scenario.run_name


def test_a_run_that_is_not_applicable_leaves_its_verdict_alone(tmp_path: Path) -> None:
    folder = tmp_path / "hello" / "baseline"
    assert run(HELLO, agents.greet, out=tmp_path).folder == folder
    profile = profile_of({"capabilities": {"cancel": False}})
    lacking = msgspec.structs.replace(HELLO, profile=profile, needs=("cancel",))
    assert run(lacking, agents.greet, out=tmp_path).verdict.verdict == "not_applicable"
    assert [path.name for path in folder.iterdir()] == ["verdict.json"]


def test_history_and_verdict_are_kept(tmp_path: Path) -> None:
    result = run(HELLO, agents.greet, out=tmp_path)
    assert result.folder == tmp_path / "hello" / "baseline"
    data = (result.folder / "history.jsonl").read_bytes()
    assert data == encode(result.history.events)
    assert encode(decode(data).events) == data
    kept = msgspec.json.decode((result.folder / "verdict.json").read_bytes(), type=Verdict)
    assert kept == result.verdict
    assert sorted(p.name for p in result.folder.iterdir()) == ["history.jsonl", "verdict.json"]


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    played = run(HELLO, agents.greet, out=tmp_path)
    assert played.verdict.verdict == "unknown"
    assert "no space is left on the disk" in played.verdict.doubts[0]
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_kept_session_is_without_sockets_and_pipes_which_no_copy_can_take(tmp_path: Path) -> None:
    session = tmp_path / "session"
    (session / "work").mkdir(parents=True)
    os.mkfifo(session / "work" / "pipe")
    (session / "work" / "notes.txt").write_text("kept")
    (session / "dangling").symlink_to("nowhere")
    with socket.socket(socket.AF_UNIX) as relay, contextlib.chdir(session):
        relay.bind("relay")
        kept = run_folder.keep_session(session, tmp_path / "run")
    found = sorted(str(path.relative_to(kept)) for path in kept.rglob("*"))
    assert found == ["dangling", "work", "work/notes.txt"]
