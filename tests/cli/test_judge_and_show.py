"""`judge` and `show` read what `run` has left; a history says the same when judged again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Harness

KEYS = {"file", "transcript", "format", "verdict", "asked", "findings", "counts", "not_applicable"}
BASELINE = ".harness/runs/greeting/baseline"
CLAUDE_CODE = """\
{"type":"user","sessionId":"s","message":{"role":"user","content":"hi"},"uuid":"1"}
{"type":"user","sessionId":"s","message":{"role":"user","content":"hi?"},"uuid":"2"}
{"type":"assistant","sessionId":"s","message":{"id":"a","role":"assistant","content":[{"type":"text","text":"Hello."}]},"uuid":"3"}
"""


@pytest.fixture
def played(harness: Harness) -> Harness:
    """The command line, after the wrong agent has played the scenario."""
    assert harness("run", "--target", "agents:wrong").returncode == 1
    return harness


def test_a_run_is_judged_as_it_was(played: Harness, folder: Path) -> None:
    done = played("judge", ".harness", "--json")
    *rows, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr, len(rows)) == (1, "", 2)
    assert last["summary"]["transcripts"] == 2
    assert last["summary"]["asked"]["valid_request"] == 2
    for row in rows:
        assert set(row) >= KEYS
        kept = json.loads((folder / row["file"]).with_name("verdict.json").read_bytes())
        assert [f["code"] for f in row["findings"]] == [f["code"] for f in kept["findings"]]


def test_one_check(played: Harness) -> None:
    row = json.loads(played("judge", BASELINE, "--check", "valid_request", "--json").stdout)
    assert {finding["check"] for finding in row["findings"]} == {"valid_request"}


def test_a_foreign_recording_among_others(harness: Harness, folder: Path) -> None:
    (folder / "logs").mkdir()
    (folder / "logs/a.jsonl").write_text(CLAUDE_CODE, "utf-8")
    (folder / "logs/b.bin").write_bytes(b"\0\1")
    (folder / "logs/c.txt").write_text("hello", "utf-8")
    done = harness("judge", "logs", "-j", "2")
    assert done.returncode == 0
    assert "  role_alternation.wire  (advice, not failing)  logs/a.jsonl\n" in done.stdout
    assert "applied 3 of 59 checks: role_alternation, wellformed_text" in done.stdout
    assert "refused:\n      1  binary data\n      1  format not recognised\n" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "3 files, 1 transcript: 1 passed; not failing: 1 advice; 2 refused"
    )


def test_show(played: Harness) -> None:
    done = played("show", BASELINE)
    assert done.returncode == 0
    assert "turn 1 of main\n" in done.stdout
    assert "✗ valid_request.V11: " in done.stdout


def test_show_json_prints_the_events(played: Harness, folder: Path) -> None:
    done = played("show", f"{BASELINE}/history.jsonl", "--json")
    assert done.stdout == (folder / BASELINE / "history.jsonl").read_text("utf-8")


def test_show_of_a_folder_of_runs_names_one(played: Harness) -> None:
    done = played("show", ".harness")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"name one run of 2: {BASELINE}" in done.stderr


def test_a_torn_history(played: Harness, folder: Path) -> None:
    file = folder / BASELINE / "history.jsonl"
    file.write_bytes(file.read_bytes()[:-9])
    done = played("show", BASELINE)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {BASELINE}/history.jsonl:")
