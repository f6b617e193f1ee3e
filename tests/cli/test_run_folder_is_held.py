"""Two commands in one folder, a target that changes the folder, and an end by SIGTERM."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from harness.files.owner import file_lock, out_lock
from tests.cli.conftest import Harness, command, environment

_WANDERER = """
import os, tempfile
from agents import crashing, good

os.chdir(tempfile.gettempdir())


def agent(brief):
    os.chdir("/")
    good(brief)


def wrong(brief):
    os.chdir("/")
    crashing(brief)
"""


@pytest.mark.parametrize(
    "words",
    [
        ("run", "scenarios", "--target", "agents:good", "--out", "held"),
        ("fuzz", "--target", "agents:good", "--examples", "1", "--out", "held"),
        ("shrink", "scenarios/greeting.yaml", "--target", "agents:crashing", "--out", "held"),
        ("judge", "scenarios", "--resume", "held"),
    ],
    ids=lambda words: words[0],
)
def test_a_second_command_says_that_the_folder_is_held(
    harness: Harness, folder: Path, words: tuple[str, ...]
) -> None:
    with out_lock(folder / "held"):
        done = harness(*words)
    assert done.returncode == 2
    assert "writes here: wait for it, or choose another folder" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_second_recording_says_that_the_cassette_is_held(harness: Harness, folder: Path) -> None:
    words = ("--target", "agents:silent", "--prompt", "Hi", "--upstream", "http://127.0.0.1:1")
    with file_lock(folder / "kept/a.yaml", folder / "kept/a.yaml"):
        held = harness("record", "kept/a.yaml", *words)
        beside = harness("record", "kept/b.yaml", *words)
    assert (held.returncode, beside.returncode) == (2, 2)
    assert "kept/a.yaml: process" in held.stderr
    assert "writes here: wait for it, or choose another file" in held.stderr
    assert "kept/b.yaml: no call to a model was recorded" in beside.stderr
    assert list((folder / "kept").iterdir()) == []


def test_the_lock_is_no_recording(harness: Harness, folder: Path) -> None:
    again = ("judge", "kept", "--resume", "kept", "--json", "-v")
    (folder / "kept").mkdir()
    (folder / "kept/notes.txt").write_text("nothing")
    assert "notes.txt" in harness(*again).stderr
    assert ".lock" not in harness(*again).stderr


@pytest.mark.real
def test_a_relative_folder_is_the_one_of_the_start(harness: Harness, folder: Path) -> None:
    (folder / "wanderer.py").write_text(_WANDERER)
    done = harness("run", "scenarios", "--target", "wanderer:agent", "--out", "runs", "--json")
    assert done.returncode == 0, done.stderr
    assert len(list((folder / "runs").rglob("history.jsonl"))) == 2
    assert '"history":"runs/greeting/baseline/history.jsonl"' in done.stdout.replace(": ", ":")


@pytest.mark.real
@pytest.mark.nightly
def test_shrink_and_doctor_write_below_the_start(harness: Harness, folder: Path) -> None:
    (folder / "wanderer.py").write_text(_WANDERER)
    only = ("--only", "greeting", "--json")
    words = ("shrink", "scenarios/greeting.yaml", "--target", "wanderer:wrong", *only)
    row = json.loads(harness(*words, "--out", "small").stdout)
    assert row["file"] == "small/greeting-crashed.yaml"
    assert "harness run small/greeting-crashed.yaml" in row["repeat"]
    assert (folder / row["file"]).is_file()
    harness("doctor", "--target", "wanderer:agent", "--write", "mine.toml")
    assert (folder / "mine.toml").is_file()


def test_sigterm_ends_in_order_and_says_so(folder: Path) -> None:
    words = (
        "run",
        "scenarios",
        "--target",
        "agents:hanging",
        "--real-s",
        "600",
        "--out",
        "runs",
        "-s",
    )
    started = subprocess.Popen(
        command(*words), cwd=folder, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert started.stderr is not None
    while "ready" not in started.stderr.readline():
        pass
    started.send_signal(signal.SIGTERM)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 143
    assert "terminated: unfinished work was stopped" in said
    assert not (folder / "runs/.lock").exists()
