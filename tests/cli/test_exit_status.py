"""The exit statuses are a contract, and no traceback reaches a user."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from harness.cli import main
from tests.cli.conftest import Harness, command, environment


def run(harness: Harness, agent: str, *more: str) -> subprocess.CompletedProcess[str]:
    return harness("run", "--target", f"agents:{agent}", *more)


def test_0_everything_passes(harness: Harness) -> None:
    done = run(harness, "good")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines()[-1] == "2 runs: 2 passed; target agents:good; seed 0"


def test_0_the_help_of_no_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as bare:
        main(())
    told = capsys.readouterr()
    with pytest.raises(SystemExit) as asked:
        main(("--help",))
    assert (bare.value.code, asked.value.code) == (0, 0)
    assert (told.out, told.err) == (capsys.readouterr().out, "")
    assert "Verbs:" in told.out


@pytest.mark.parametrize(
    ("agent", "code"),
    [
        ("wrong", "valid_request.V11  (defect)"),
        ("crashing", "target.crashed"),
        ("silent", "run.nothing_intercepted"),
    ],
)
def test_1_a_finding(harness: Harness, folder: Path, agent: str, code: str) -> None:
    done = run(harness, agent)
    assert done.returncode == 1
    assert {line.partition(":")[0] for line in done.stderr.splitlines()} <= {"the agent"}
    assert f"  {code}  " in done.stdout
    assert (folder / ".harness/runs/greeting/baseline/history.jsonl").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rum"], "no verb 'rum'; did you mean 'run'?"),
        (["run", "--targt", "x"], "Did you mean '--target'?"),
        (["run"], "--target: name the agent"),
        (["run", "--target", "referense"], "did you mean 'reference'?"),
        (["run", "--target", "nowhere:agent"], "cannot be imported: ModuleNotFoundError"),
        (["run", "--target", "agents:goood"], "did you mean 'good'?"),
        (["run", "--target", "process:no-such-program"], "no such program: no-such-program"),
        (["run", "--target", "agents:good", "gone.yaml"], "gone.yaml: no such file or folder"),
        (
            ["run", "--target", "agents:good", "--only", "greting"],
            "did you mean 'greeting' or 'greeting/polite'?",
        ),
        (["run", "--target", "agents:good", "--seed", "x"], "'x' is not a valid integer"),
        (["run", "--target", "process:true", "--world", "simulate"], "use --world supervise"),
        (["judge"], "Missing argument"),
        (["judge", "gone"], "gone: no such file or folder"),
        (["judge", "scenarios"], "no file could be read"),
        (["judge", "agents.py"], "agents.py: line 1: "),
        (
            ["judge", "--check", "valid_requst", "agents.py"],
            "did you mean 'valid_request'?",
        ),
        (["judge", "--format", "vrc", "agents.py"], "did you mean 'vcr'?"),
        (["list", "fault"], "did you mean 'faults'?"),
        (["explain", "valid_requst"], "did you mean 'valid_request' or 'invalid_request'"),
        (["show", "gone"], "gone: no such run"),
        (["show", "agents.py"], "agents.py:1: "),
    ],
    ids=" ".join,
)
def test_2_an_input_that_cannot_be_used(harness: Harness, words: list[str], said: str) -> None:
    done = harness(*words)
    assert (done.returncode, done.stdout.count("Traceback")) == (2, 0)
    assert said in done.stderr
    assert done.stderr.splitlines()[-1].startswith(("error: ", "  see: harness"))
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: broken\nscript: [{say: a}]\ntims: 3\n", ":3: key `tims`: unknown"),
        ("name: broken\nscript:\n  - {say: a, tims: 3}\n", ":3: key `tims`: unknown; did you"),
        ("name: broken\nscript: [{say: a}]\nlimits:\n  real_s: soon\n", ":4: key `real_s`: "),
        ("name: broken\nscript: [\n", "not YAML"),
        ("name: broken\nname: broken\nscript: [{say: a}]\n", ":2: duplicate key `name`"),
    ],
)
def test_2_a_broken_scenario(harness: Harness, folder: Path, text: str, said: str) -> None:
    (folder / "scenarios/broken.yaml").write_text(text, "utf-8")
    done = run(harness, "good")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: scenarios/broken.yaml:")
    assert said in done.stderr


def test_2_the_output_folder_is_a_file(harness: Harness, folder: Path) -> None:
    (folder / "taken").write_text("", "utf-8")
    done = run(harness, "good", "--out", "taken")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: taken")


def test_2_a_full_disk(folder: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command("list", "targets"), cwd=folder, env=environment(), stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")


def test_3_the_harness_fails(harness: Harness, folder: Path) -> None:
    """A bug of ours, made by a module that shadows one of ours."""
    (folder / "sitecustomize.py").write_text(
        "import harness.targets.spec as spec\ndef broken(): raise ZeroDivisionError('oh')\n"
        "spec.names = broken\n",
        "utf-8",
    )
    done = harness("list", "targets", PYTHONPATH=str(folder))
    assert done.returncode == 3
    assert done.stderr.startswith("harness failure: ZeroDivisionError: oh; please report it")
    debugged = harness("list", "targets", "--debug", PYTHONPATH=str(folder))
    assert debugged.returncode != 0
    assert "Traceback" in debugged.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_130_ctrl_c(folder: Path, workers: str) -> None:
    words = command("run", "--target", "agents:hanging", "-j", workers, "-s")
    with subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted: unfinished work was stopped"
    assert "Traceback" not in said


def test_a_reader_that_leaves_changes_nothing(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command("run", "--target", "agents:crashing"), cwd=folder, env=environment(),
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
