"""Outputs for CI: checked before the run, written whole, one at a place."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from junitparser import JUnitXml

from harness.cli.reports import _KEY, Wanted, reporting
from harness.cli.run import command
from harness.core.values.errors import InputError
from harness.report.media.markdown import STEP_MAX_BYTES
from harness.verdicts.command_events import CommandStarted
from tests.cli.conftest import Command, Harness
from tests.cli.talks import REFERENCE
from tests.report.fabricated import RUNS

RUN = ("run", "--target", "agents:wrong")


def test_all_outputs_of_one_command(harness: Harness, folder: Path) -> None:
    (folder / "steps.md").write_text("# Before\n", "utf-8")
    files = ("--junit", "out/j.xml", "--markdown", "m.md", "--json")
    done = harness(*RUN, *files, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY="steps.md")
    assert done.returncode == 1
    assert [json.loads(line)["verdict"] for line in done.stdout.splitlines()] == ["fail", "fail"]
    assert JUnitXml.fromfile(str(folder / "out/j.xml")).failures == 2
    summary = (folder / "m.md").read_text("utf-8")
    assert summary.startswith("## ✗ harness: 2 runs: 2 failed\n")
    assert (folder / "steps.md").read_text("utf-8") == f"# Before\n{summary}"
    assert "::error title=" in done.stderr
    assert ",file=scenarios/greeting.yaml,line=" in done.stderr


def test_standard_output_is_the_document_alone(harness: Harness) -> None:
    done = harness(*RUN, "--junit", "-", "--no-github", GITHUB_ACTIONS="true")
    assert JUnitXml.fromstring(done.stdout.encode()).tests == 2
    assert "::error" not in done.stderr


BAD = {
    "a folder": (("--junit", "folder"), "folder: a folder; name a file"),
    "below a file": (("--markdown", "file/m.md"), "file/m.md: cannot be written"),
    "one path twice": (
        ("--junit", "x", "--markdown", "./x"), "--markdown x: --junit writes to the same file"),
    "with the page": (("--html", "x", "--junit", "x"), "--html x: --junit writes to the same file"),
    "standard output twice": (
        ("--junit", "-", "--markdown", "-"), "--markdown -: --junit writes to the same file"),
    "standard output and JSON": (("--junit", "-", "--json"), "-: --json writes on standard output"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_written_is_one_line_before_the_run(name: str, in_process: Command) -> None:
    words, said = BAD[name]
    Path("folder").mkdir()
    Path("file").write_text("x", "utf-8")
    done = in_process(*RUN, *words)
    assert done.status == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not Path(".harness").exists()


def test_a_step_summary_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="GITHUB_STEP_SUMMARY"):
        Wanted(step_summary=tmp_path).check()


def test_the_step_summary_keeps_to_what_is_left_of_its_size(tmp_path: Path) -> None:
    path = tmp_path / "steps.md"
    path.write_bytes(b"x" * (STEP_MAX_BYTES - 1000))
    wanted = Wanted(step_summary=path)
    wanted.check()
    with click.Context(command) as context:
        context.meta[_KEY] = wanted
        with reporting(CommandStarted(verb="run")) as tell:
            for run in RUNS:
                tell(run)
    assert STEP_MAX_BYTES - 1000 < path.stat().st_size <= STEP_MAX_BYTES
    assert "**Cut:**" in path.read_text("utf-8")


MINE = """
class Names:
    def __call__(self, event):
        return [event.name] if hasattr(event, "name") else []

def broken(results, command):
    raise KeyError("mistake")
"""


def test_a_plug_in_brings_a_report_that_works_with_each_verb(
    in_process: Command, folder: Path
) -> None:
    Path("mine.py").write_text(MINE, "utf-8")
    with_it = ("--plugin", "mine")
    assert "mine.names" in in_process("list", "reports", *with_it).out
    done = in_process(*RUN, "--only", "greeting*", *with_it, "--report", "mine.names=names.txt")
    assert (done.status, Path("names.txt").read_text("utf-8")) == (1, "greeting\ngreeting/polite\n")
    history = ".harness/runs/greeting/baseline/history.jsonl"
    judged = in_process("judge", history, *with_it, "--report", "mine.names")
    assert judged.out == f"{history}/greeting\n"


def test_a_report_that_fails_leaves_the_others_and_makes_the_command_doubtful(
    in_process: Command,
) -> None:
    Path("mine.py").write_text(MINE, "utf-8")
    words = ("--plugin", "mine", "--report", "mine.broken=x", "--junit", "j.xml")
    done = in_process("run", "--target", REFERENCE, "--only", "greeting*", *words)
    assert done.status == 3
    assert "the report --report mine.broken=x failed: KeyError: 'mistake'" in done.err
    assert JUnitXml.fromfile("j.xml").tests == 2
    assert not Path("x").exists()


def test_an_unknown_report_costs_no_run(in_process: Command) -> None:
    done = in_process(*RUN, "--report", "junitt=x")
    assert (done.status, done.out) == (2, "")
    assert "no such report" in done.err
    assert "junit" in done.err
