"""`judge` over a folder of anything: bad files are lines, and an ended run is taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Harness, command, environment
from tests.cli.test_judge_and_show import CLAUDE_CODE


@pytest.fixture
def logs(folder: Path) -> Path:
    """Forty good files, and some bad ones."""
    logs = folder / "logs"
    logs.mkdir()
    for n in range(40):
        (logs / f"{n:02}.jsonl").write_text(CLAUDE_CODE.replace('"s"', f'"s{n}"'), "utf-8")
    (logs / "binary").write_bytes(b"\0\1")
    (logs / "empty").write_bytes(b"")
    os.mkfifo(logs / "pipe")
    (logs / "out").symlink_to(folder / "agents.py")
    Path(os.fsdecode(os.fsencode(logs) + b"/\xff")).write_text(CLAUDE_CODE, "utf-8")
    return logs


def test_a_folder_of_anything(harness: Harness, logs: Path) -> None:
    done = harness("judge", "logs", "-j", "2")
    assert done.returncode == 0, done.stderr
    said = "45 files, 41 transcripts: 41 passed; not failing: 41 advice; 4 refused"
    assert done.stdout.splitlines()[-1] == said
    assert "logs/\\xff" in done.stdout
    for reason in ("binary data", "the file is empty", "no regular file"):
        assert f"      1  {reason}\n" in done.stdout
    assert "      1  a link out of the folder, not followed\n" in done.stdout


def test_the_workers_change_nothing(harness: Harness, logs: Path) -> None:
    one, two = (harness("judge", "logs", "--json", "-j", n) for n in "12")
    assert (one.stdout, one.stderr) == (two.stdout, two.stderr)
    assert len(one.stdout.splitlines()) == 41 + 1, "a line for each transcript, and the summary"
    assert json.loads(one.stdout.splitlines()[0])["counts"]["messages"] == 3


def test_a_named_file_that_cannot_be_read_does_not_end_the_run(
    harness: Harness, logs: Path
) -> None:
    done = harness("judge", "logs/empty", "logs/00.jsonl", "--fail-on", "advice")
    assert done.returncode == 1
    assert done.stderr == "logs/empty: line 1: the file is empty\n"
    assert "2 files, 1 transcript: 1 failed; 1 refused" in done.stdout


@pytest.mark.real
def test_a_run_that_was_killed_is_taken_up_again(
    harness: Harness, folder: Path, logs: Path
) -> None:
    whole = harness("judge", "logs", "--json").stdout
    words = command("judge", "logs", "--json", "--resume", "kept")
    with subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        for _ in range(5):
            assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    journal = folder / "kept/judged.jsonl"
    kept = journal.read_bytes()
    assert kept.count(b"\n") >= 5
    journal.write_bytes(kept[:-20])
    again = harness("judge", "logs", "--json", "--resume", "kept", "-j", "2")
    assert again.stdout == whole
    size = journal.stat().st_size
    third = harness("judge", "logs", "--json", "--resume", "kept")
    assert (third.stdout, journal.stat().st_size) == (whole, size), "nothing is judged again"


@pytest.mark.real
def test_a_changed_file_is_judged_again(harness: Harness, folder: Path, logs: Path) -> None:
    harness("judge", "logs/00.jsonl", "--resume", "kept")
    (logs / "00.jsonl").write_text(CLAUDE_CODE.replace("hi?", "hello?") * 2, "utf-8")
    again = harness("judge", "logs/00.jsonl", "--resume", "kept", "--json")
    assert json.loads(again.stdout)["counts"]["messages"] > 3
    other = harness("judge", "logs/00.jsonl", "--resume", "kept", "--check", "valid_request")
    assert "role_alternation" not in other.stdout


def test_nothing_could_be_read(harness: Harness, logs: Path) -> None:
    done = harness("judge", "logs/empty", "logs/binary")
    assert done.returncode == 2
    assert "error: no file could be read" in done.stderr
