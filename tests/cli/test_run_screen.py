"""Many runs are a screen of causes, and what -v prints stands in a file beside the histories."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from harness.cli.judge_task import files
from harness.cli.reports import reporting
from harness.cli.run import command, each_run, screen
from harness.report.media.screen import LISTED_MAX, ROWS
from harness.report.media.text import Detail
from harness.verdicts.command_events import CommandStarted
from harness.verdicts.result import Result
from tests.report.test_command_summary import RUNS


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")


def shown(
    runs: list[Result], detail: Detail, folder: Path, capsys: pytest.CaptureFixture[str]
) -> str:
    """What the command prints of these runs."""
    started = CommandStarted(verb="run", planned=tuple((run.name, run.scenario) for run in runs))
    with click.Context(command).scope():
        chosen = screen(len(runs), detail, False, Path("runs/report.txt"), None)
        with reporting(started, chosen, beside=each_run(chosen, folder, len(runs))) as tell:
            for run in runs:
                tell(run)
    return capsys.readouterr().out


def test_many_runs_are_a_screen_and_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run for run in RUNS if isinstance(run, Result)]
    text = shown(runs, "usual", tmp_path, capsys)
    assert len(text.splitlines()) <= ROWS
    assert "each run: runs/report.txt" in text
    report = (tmp_path / "report.txt").read_text("utf-8")
    whole = shown(runs, "verbose", tmp_path, capsys)
    assert set(filter(None, whole.splitlines())) <= set(report.splitlines())


def test_few_runs_have_a_line_each_and_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run for run in RUNS if isinstance(run, Result)][:LISTED_MAX]
    text = shown(runs, "usual", tmp_path, capsys)
    assert text.count("no_progress_stop.same_call, 2 more") == LISTED_MAX
    assert not (tmp_path / "report.txt").exists()


def test_judge_takes_the_report_for_no_recording_and_a_strangers_file_for_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [run for run in RUNS if isinstance(run, Result)]
    shown(runs, "usual", tmp_path, capsys)
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat" / "report.txt").write_text("User: hello\n", "utf-8")
    assert [found.path for found in files([tmp_path])] == [f"{tmp_path}/chat/report.txt"]
