"""`judge` writes the files of `run`, and compares with a baseline, by the same code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.cli.conftest import Harness
from tests.cli.talks import Command
from tests.report.html.pages import unpacked

CALL = {"type": "tool_use", "name": "read", "input": {}}
ASK = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "read it"}}
KNOWN = ("judge", "logs", "--baseline", "known.tsv")


def lines(calls: int) -> str:
    """A session of Claude Code that runs one call again and again, with one result."""
    found: list[object] = [ASK | {"uuid": "0"}]
    for n in range(calls):
        said = {"id": f"m{n}", "role": "assistant", "content": [CALL | {"id": f"t{n}"}]}
        got = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "no", "is_error": True}
        found.append({"type": "assistant", "sessionId": "s", "uuid": f"a{n}", "message": said})
        found.append(ASK | {"uuid": f"u{n}", "message": {"role": "user", "content": [got]}})
    return "\n".join(map(json.dumps, found)) + "\n"


@pytest.fixture
def logs(folder: Path) -> Path:
    """A folder with a session that loops, one that does not, and a file that is not a recording."""
    made = folder / "logs"
    made.mkdir()
    (made / "loop.jsonl").write_text(lines(9), "utf-8")
    (made / "fine.jsonl").write_text(lines(1), "utf-8")
    (made / "none.txt").write_text("hello", "utf-8")
    return made


@pytest.mark.real
def test_all_outputs_and_a_baseline(harness: Harness, logs: Path, folder: Path) -> None:
    files = ("--junit", "j.xml", "--html", "p.html", "--markdown", "-")
    done = harness("judge", "logs", *files, GITHUB_ACTIONS="true")
    assert done.returncode == 1
    assert done.stdout.startswith("## ✗ harness: 2 transcripts: 1 passed, 1 failed\n")
    assert JUnitXml.fromfile(str(folder / "j.xml")).failures == 1
    assert "::error title=no_progress_stop." in done.stderr
    assert ",file=logs/loop.jsonl,line=1::" in done.stderr
    page = (folder / "p.html").read_bytes()
    assert [run["verdict"] for run in unpacked(page, "index")["runs"]] == ["fail", "pass"]
    assert unpacked(page, "run-0")["events"]

    written = harness(*KNOWN, "--update-baseline", "--resume", "journal")
    assert written.returncode == 0
    assert ", 0 gone; written" in written.stdout
    again = harness(*KNOWN, "--json", "--resume", "journal")
    *rows, summary, last = map(json.loads, again.stdout.splitlines())
    assert again.returncode == 0
    assert [(row["verdict"], bool(row["known"])) for row in rows] == [
        ("pass", False),
        ("pass", True),
    ]
    assert summary["summary"]["passed"] == 2
    assert (last["new"], last["gone"]) == ([], [])
    (logs / "loop.jsonl").write_text(lines(1), "utf-8")
    assert "  gone: no_progress_stop." in harness(*KNOWN).stdout


def test_an_output_that_cannot_be_written_costs_no_file(in_process: Command, logs: Path) -> None:
    done = in_process("judge", "logs", "--junit", "logs", "--resume", "journal")
    assert (done.status, done.out) == (2, "")
    assert "logs: a folder; name a file" in done.err
    assert not Path("journal").exists()
