"""`run` against targets that end their process: a failure of that run, and the next one is played.

The ends are real: `_exit` of the C library, a segmentation fault, SIGKILL.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli.run_task import RunTask, RunTasks, lost_run, play
from harness.files import load_scenarios
from harness.verdicts.result import Invocation
from tests.cli.conftest import Harness

ENDS = """
import ctypes, os, signal

from agents import good

C = ctypes.CDLL(None)


def first_only(end):
    def agent(brief):
        good(brief)
        if "dear" not in str(brief.store.load("main")):
            end()
    return agent


def leaves(brief):
    os._exit(0)


c_exit = first_only(lambda: C._exit(0))
segfault = first_only(lambda: ctypes.string_at(0))
sigkill = first_only(lambda: C.kill(os.getpid(), signal.SIGKILL))
closes = first_only(lambda: os.closerange(0, 256))
forks = first_only(os.fork)


def once(brief):
    good(brief)
    try:
        os.close(os.open("once", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    C._exit(3)


def wanders(brief):
    good(brief)
    os.chdir("/")
"""


@pytest.fixture(autouse=True)
def ends(folder: Path) -> Path:
    (folder / "ends.py").write_text(ENDS, "utf-8")
    return folder


@pytest.mark.parametrize("flags", [(), ("-j", "2")])
def test_one_line_that_leaves_makes_no_suite_green(
    harness: Harness, flags: tuple[str, ...]
) -> None:
    done = harness("run", "--json", "--target", "ends:leaves", *flags)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [(row["name"], row["verdict"]) for row in rows] == [
        ("greeting", "fail"),
        ("greeting/polite", "fail"),
    ]
    assert rows[0]["findings"][0]["message"].startswith("the target crashed at ends.py:")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("c_exit", "(exit status 0): the process ended in the middle of the run"),
        *(
            pytest.param(*row, marks=pytest.mark.real)
            for row in (
                ("segfault", "SIGSEGV ended the process in the middle of the run (in <lambda>)"),
                ("sigkill", "signal SIGKILL ended the process in the middle of the run"),
                ("closes", "the target closed files that it did not open"),
                ("forks", "os.fork(): a child of the target returned from its call"),
            )
        ),
    ],
)
def test_the_run_fails_and_the_next_one_passes(harness: Harness, target: str, words: str) -> None:
    done = harness("run", "--json", "--target", f"ends:{target}")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    (found,) = first["findings"]
    assert found["code"] == "target.crashed"
    assert words in found["message"]
    assert Path(first["history"]).name == "history.jsonl"
    assert (second["verdict"], done.returncode) == ("pass", 1)


def test_a_process_that_ends_once_is_no_pass(harness: Harness) -> None:
    done = harness("run", "--json", "--target", "ends:once?folder=shared")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert (first["verdict"], second["verdict"], done.returncode) == ("fail", "pass", 1)
    assert [found["code"] for found in first["findings"]] == ["target.crashed"]


def test_a_folder_that_a_run_leaves_is_there_for_the_next(harness: Harness, ends: Path) -> None:
    done = harness("run", "--json", "--target", "ends:wanders")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == ["greeting", "greeting/polite"]
    assert rows[1]["verdict"] == "pass"
    assert all((ends / row["history"]).is_file() for row in rows)


def test_a_worker_that_another_program_kills_is_not_the_target_s_crash(
    ends: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ends)
    scenario = load_scenarios(Path("scenarios/greeting.yaml"))[0]
    asked = Invocation(path="scenarios/greeting.yaml", target="agents:good")
    tasks = RunTasks([RunTask(scenario=scenario, asked=asked, out="runs")] * 2)
    first, *_ = tasks
    again = tasks.again(first, -9)
    assert again.isolate
    assert play(again).verdict.verdict == "pass"
    assert play(tasks.again(first, 1)).verdict.verdict == "unknown"
    assert all(task.isolate for task in tasks)


def test_a_run_that_leaves_no_worker_is_unknown_and_is_named(ends: Path) -> None:
    scenario = load_scenarios(ends / "scenarios/greeting.yaml")[0]
    asked = Invocation(path="", target="agents:good")
    task = RunTask(scenario=scenario, asked=asked, out="runs", ends=(-9, -9, -9))
    summary = lost_run(task)
    assert (summary.name, summary.word) == ("greeting", "unknown")
    assert "ended with signal SIGKILL" in summary.verdict.doubts[0]
