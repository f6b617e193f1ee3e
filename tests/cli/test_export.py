"""`export`: which runs it takes, what it writes, and how it refuses."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness.report.exports.exported_run import ExportedRun
from harness.runner.run_folder import write_history, write_verdict
from tests.cli.conftest import command, environment
from tests.cli.talks import Command
from tests.report.exports.made_runs import RunMaker, failing_run

RUNS = ".harness/runs"
LOOP = f"{RUNS}/loop/baseline"


@pytest.fixture
def played(in_process: Command, talks: Path) -> Command:
    """The command line, in a folder with a kept run that fails."""
    _keep(talks / LOOP, failing_run())
    return in_process


@pytest.fixture
def twice(played: Command, talks: Path) -> Command:
    """The command line, in a folder with another run too."""
    made = RunMaker()
    made.comes("main", 1, "Hi.")
    made.asks("main", 1, say="Hello.")
    _keep(talks / RUNS / "chat/quiet", made.ended())
    return played


def _keep(folder: Path, run: ExportedRun) -> None:
    write_history(folder, run.history)
    write_verdict(folder, run.verdict)


def test_spans_on_standard_output_are_read_again(played: Command, talks: Path) -> None:
    done = played("export", LOOP, "--to", "otlp")
    assert (done.status, done.err) == (0, "")
    (talks / "spans.json").write_text(done.out, "utf-8")
    judged = played("judge", "spans.json", "--json")
    assert json.loads(judged.out.splitlines()[0])["format"] == "otel"
    assert played("export", LOOP, "--to", "otlp").out == done.out


@pytest.mark.parametrize(("file", "kind"), [("log.json", "inspect_ai"), ("log.eval", "inspect_ai")])
def test_a_folder_of_runs_is_one_log(twice: Command, talks: Path, file: str, kind: str) -> None:
    done = twice("export", RUNS, "--to", "inspect", "-o", file, "--json")
    (row,) = map(json.loads, done.out.splitlines())
    assert (row["file"], row["to"], row["bytes"]) == (
        file,
        "inspect",
        (talks / file).stat().st_size,
    )
    assert row["runs"] == ["made/variant"] * 2
    rows = list(map(json.loads, twice("judge", file, "--json").out.splitlines()))
    assert {found["format"] for found in rows} == {kind}
    assert len(rows) == len(row["runs"])


def test_a_run_that_is_named_twice_is_exported_once(played: Command) -> None:
    one = played("export", LOOP, "--to", "otlp").out
    assert played("export", LOOP, f"{LOOP}/history.jsonl", "--to", "otlp").out == one


def test_a_scenario_names_its_run(played: Command) -> None:
    done = played("export", "scenarios/loop.yaml", "--to", "mermaid")
    assert done.out.startswith("sequenceDiagram\n")
    assert "no_progress_stop.same_failure" in done.out


def test_a_viewer_that_shows_the_last_days_is_told_of_the_day(played: Command) -> None:
    done = played("export", LOOP, "--to", "otlp", "-o", "runs.json")
    day = "in the viewer, choose the day of the run's clock: 2026-01-01"
    assert (done.status, done.out, done.err) == (0, "", f"written: runs.json; {day}\n")


def test_a_file_that_is_there_is_replaced(played: Command, talks: Path) -> None:
    (talks / "card.svg").write_text("old", "utf-8")
    done = played("export", LOOP, "--to", "svg", "-o", "card.svg")
    assert (done.status, done.out, done.err) == (0, "", "written: card.svg\n")
    assert (talks / "card.svg").read_text("utf-8").startswith("<svg ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((LOOP, "--to", "pdf"), "'pdf' is not one of 'otlp', 'inspect', 'mermaid', 'svg'"),
        ((LOOP,), "Missing option '--to'"),
        ((), "Missing argument 'RUN...'"),
        (("none", "--to", "otlp"), "no such run: name a folder with history.jsonl, or the file"),
        ((LOOP, "--to", "otlp", "--json"), "standard output holds the export; name a file with -o"),
        ((LOOP, "--to", "svg", "-o", "scenarios/loop.yaml/x"), "cannot be written: "),
    ],
)
def test_what_cannot_be_exported_is_refused(
    played: Command, words: tuple[str, ...], said: str
) -> None:
    done = played("export", *words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_a_picture_is_of_one_run(twice: Command) -> None:
    done = twice("export", RUNS, "--to", "svg")
    assert (done.status, done.out) == (2, "")
    assert "--to svg: shows one run; name one of 2: .harness/runs/chat/quiet" in done.err


def test_a_reader_that_leaves_early_changes_nothing(played: Command, talks: Path) -> None:
    words = command("export", RUNS, "--to", "otlp")
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=talks
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert (process.wait(60), process.stderr.read()) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
def test_a_full_disk_is_told_in_a_line(played: Command, talks: Path) -> None:
    words = command("export", LOOP, "--to", "otlp")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            words, stdout=full, stderr=subprocess.PIPE, env=environment(), cwd=talks, timeout=60
        )
    assert done.returncode != 0
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
