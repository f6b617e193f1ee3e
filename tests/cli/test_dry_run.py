"""`run --dry-run`: counting plays nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command

SCENARIO = """\
name: hello
inbox: Hello
stream: both
script: [{say: Good morning.}]
faults: [{kind: http.status}]
"""


def test_a_dry_run_that_only_counts_plays_nothing(
    in_process: Command, talks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (talks / "counted").mkdir()
    (talks / "counted" / "hello.yaml").write_text(SCENARIO, "utf-8")
    monkeypatch.chdir(talks)
    monkeypatch.setattr("harness.cli.dry_run.hits", None)
    done = in_process("run", "counted", "--dry-run", "-q")
    assert (done.status, len(done.out.splitlines())) == (0, 1)
    assert done.out.startswith("2 runs, none played; 2 have faults: -v rehearses")
    lines = in_process("run", "counted", "--dry-run", "--json").out.splitlines()
    assert [json.loads(line)["hits"] for line in lines] == [None, None]
    asked: list[str] = []
    monkeypatch.setattr("harness.cli.dry_run.hits", lambda *_: asked.append("once") or [])
    assert "    no call is hit" in in_process("run", "counted", "--dry-run", "-v").out
    assert asked == ["once", "once"]
