"""Any failure of `judge` on a file is one line: the good files after it are judged."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import msgspec
import pytest

from harness.cli.judge_journal import NAME
from harness.cli.judge_task import JudgeTask, files, judge_file
from harness.parts.loading import set_loaded
from harness.plugins import load_plugins
from harness.recordings.transcripts import Refusal
from harness.verdicts.command_events import FileRead
from tests.cli.conftest import Harness
from tests.cli.talks import Command

GOOD = '{"type":"user","sessionId":"s","uuid":"1","message":{"role":"user","content":"hi"}}\n'

HALF = "\ud800"
"""Half of a surrogate pair."""

CALL = {"tool_call_id": f"c{HALF}", "function_name": f"f{HALF}", "arguments": {HALF: HALF}}
STEP = {"step_id": 1, "source": "agent", "message": HALF, "tool_calls": [CALL] * 4}
SURROGATES = json.dumps({
    "session_id": HALF, "schema_version": "ATIF-v1.4", "agent": {"name": HALF},
    "steps": [STEP] * 4,
})  # fmt: skip
"""A recording whose ids, names and texts hold half of a surrogate pair."""

PARTS = '''\
"""Formats that misbehave."""

import os
import sys

from harness.recordings import Recording


def deadly(document):
    """A format that ends its process."""
    with open(os.environ["DEATHS"], "a") if b"DIE" in document else open(os.devnull) as file:
        if b"DIE" in document:
            file.write("x")
            file.flush()
            os._exit(9)


def leaving(document):
    """A format that leaves."""
    if b"LEAVE" in document:
        sys.exit(0)


def deep(document):
    """A format that never ends."""
    return deep(document) if b"DEEP" in document else None


def hungry(document):
    """A format that eats."""
    if b"EAT" in document:
        raise MemoryError
'''


@pytest.fixture
def logs(folder: Path) -> Path:
    """A folder of bad files between two good ones."""
    logs = folder / "logs"
    logs.mkdir()
    (folder / "bad_formats.py").write_text(PARTS, "utf-8")
    (logs / "a_good.jsonl").write_text(GOOD)
    (logs / "half.json").write_text(SURROGATES)
    for word in ("DIE", "LEAVE", "DEEP", "EAT"):
        (logs / f"{word.lower()}.txt").write_text(word)
    (logs / "z_good.jsonl").write_text(GOOD)
    return logs


def test_no_file_ends_the_command(harness: Harness, logs: Path, folder: Path) -> None:
    words = ("judge", "logs", "--json", "--resume", "kept", "--plugin", "bad_formats")
    deaths = folder / "deaths"
    done = harness(*words, PYTHONPATH=".", DEATHS=str(deaths))
    assert done.returncode in (0, 1), done.stderr
    judged = [json.loads(line)["file"] for line in done.stdout.splitlines()[:-1]]
    assert [Path(path).name for path in judged] == ["a_good.jsonl", "half.json", "z_good.jsonl"]
    for reason in (
        "die.txt: the process that read it died",
        "leave.txt: the reader failed: SystemExit",
        "deep.txt: nested too deeply",
        "eat.txt: needs more memory than there is",
    ):
        assert f"logs/{reason}\n" in done.stderr
    assert deaths.read_text() == "xx", "a file that ends its process costs two workers"
    again = harness(*words, PYTHONPATH=".", DEATHS=str(deaths))
    assert (again.stdout, again.stderr) == (done.stdout, done.stderr)
    assert deaths.read_text() == "xx", "and is not read again"


def test_half_of_a_pair_is_written_out(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text(SURROGATES)
    judged = judge_file(JudgeTask(path=str(tmp_path / "half.json")))
    (transcript,) = judged.results
    assert transcript.label == "\\ud800"
    assert transcript.verdict.findings
    assert msgspec.json.decode(msgspec.json.encode(judged), type=FileRead) == judged


def test_a_format_that_leaves_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaving_format.py").write_text(PARTS, "utf-8")
    (tmp_path / "leave").write_text("LEAVE")
    monkeypatch.syspath_prepend(tmp_path)
    load_plugins("leaving_format")
    try:
        judged = judge_file(JudgeTask(path=str(tmp_path / "leave")))
    finally:
        set_loaded(())
    assert judged.refusals == (Refusal("", "the reader failed", "SystemExit"),)


def test_a_damaged_line_of_the_journal_is_judged_again(in_process: Command, talks: Path) -> None:
    (talks / "a.jsonl").write_text(GOOD)
    first = in_process("judge", "a.jsonl", "--resume", "kept", "--json")
    journal = talks / "kept" / NAME
    line = json.loads(journal.read_bytes())
    for damaged in ({**line, "file": {}}, {**line, "file": {"path": 1}}):
        journal.write_bytes(b'{"stamp": {"path": "\xff"}}\n' + json.dumps(damaged).encode() + b"\n")
        again = in_process("judge", "a.jsonl", "--resume", "kept", "--json")
        assert (again.status, again.out) == (first.status, first.out)


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder of 1200 floors with a file at the bottom; pytest could not remove it."""
    folder = tmp_path / "deep"
    folder.mkdir()
    with chdir(folder):
        for _ in range(1200):
            os.mkdir("d")
            os.chdir("d")
        Path("log").write_text("x")
        yield folder
        os.unlink("log")
        for _ in range(1200):
            os.chdir("..")
            os.rmdir("d")


def test_a_walk_may_be_deeper_than_the_stack(deep: Path) -> None:
    with chdir(deep):
        (found,) = files([Path()])
    assert found.path.endswith("d/log")
