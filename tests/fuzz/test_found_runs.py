"""The run of a finding is on disk whole, without secrets, with the session that was kept."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.files import load_scenarios
from harness.fuzz.example import FOUND, FoundRun, drop_run, scenario_file, write_run
from harness.runner import run

GREETING = Scenario(
    name="drawn", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello to you."),)
)


def mute(brief: object) -> None:
    """An agent that never replies."""


def _found(**more: bool) -> FoundRun:
    return FoundRun.of(3, GREETING, run(GREETING, mute, **more))


def test_scenario_history_and_verdict_can_be_read_again(tmp_path: Path) -> None:
    write_run(tmp_path, _found())
    file = scenario_file(tmp_path, 3)
    assert file.parent == tmp_path / FOUND / "example-3"
    (scenario,) = load_scenarios(file)
    assert (scenario.name, scenario.script) == ("example-3", GREETING.script)
    assert {p.name for p in file.parent.iterdir()} == {
        "example-3.yaml", "history.jsonl", "verdict.json"
    }  # fmt: skip


def test_a_session_that_was_kept_stands_beside_it_or_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    for _ in range(2):
        write_run(tmp_path, _found(keep=True))
    assert (tmp_path / FOUND / "example-3" / "session").is_dir()
    drop_run(_found(keep=True))
    assert list(scratch.iterdir()) == []
