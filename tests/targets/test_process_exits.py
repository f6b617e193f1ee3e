"""A target that ends, kills, replaces or forks its process: a crash of that run, in process."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.core.values.verdict import Finding
from harness.runner import Run, run
from harness.targets import process_exits
from tests.runner.agents import greet

HELLO = Scenario(
    name="hello", inbox=(InboxItem(text="hello"),), script=(Turn(say="Hello to you."),)
)
PID = os.getpid


def crash_of(result: Run) -> Finding:
    """The only finding of an agent that has done all its work."""
    (found,) = result.verdict.findings
    assert found.code == "target.crashed"
    return found


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (lambda: os._exit(0), "os._exit(0) ends the process"),
        (lambda: os.abort(), "os.abort() ends the process"),
        (lambda: os.kill(PID(), 9), "os.kill(self, SIGKILL) ends the process"),
        (lambda: os.kill(PID(), signal.SIGINT), "os.kill(self, SIGINT) ends"),
        (lambda: os.killpg(os.getpgrp(), 15), "os.killpg(own group, SIGTERM) ends"),
        (lambda: os.kill(os.getppid(), 9), "SIGKILL) ends"),
        (lambda: signal.raise_signal(signal.SIGTERM), "raise_signal(SIGTERM) ends"),
        (lambda: os.execlp("true", "true"), "os.exec of 'true' replaces the process"),
        (lambda: os.execve("/bin/true", ["true"], {}), "os.exec of 'true' replaces"),
        (lambda: os.fork(), "os.fork() would copy the process"),
    ],
)
def test_the_end_of_the_process_is_a_crash_after_all_work_is_done(
    end: Callable[[], Any], words: str
) -> None:
    def agent(brief: Any) -> None:
        greet(brief)
        end()

    assert words in crash_of(run(HELLO, agent)).message


def test_what_a_target_catches_is_a_crash_too() -> None:
    def agent(brief: Any) -> None:
        greet(brief)
        try:
            os._exit(0)
        except BaseException:
            return

    assert "os._exit(0)" in crash_of(run(HELLO, agent)).message


def _beside(leave: Callable[[], Any]) -> Run:
    """A run of an agent with a thread that leaves."""

    def agent(brief: Any) -> None:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        greet(brief)

    return run(HELLO, agent)


@pytest.mark.parametrize("leave", [lambda: sys.exit(3), lambda: sys.exit("x"), lambda: os._exit(0)])
def test_a_thread_that_leaves_with_a_failure_is_a_crash(leave: Callable[[], Any]) -> None:
    assert "test_process_exits.py" in crash_of(_beside(leave)).message


@pytest.mark.parametrize("leave", [lambda: sys.exit(), lambda: sys.exit(0)])
def test_a_thread_that_leaves_with_success_has_ended(leave: Callable[[], Any]) -> None:
    assert _beside(leave).verdict.verdict == "pass"


def test_a_watchdog_of_the_target_ends_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled: list[bool] = []
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", lambda: cancelled.append(True))

    def agent(brief: Any) -> None:
        faulthandler.dump_traceback_later(3600, exit=True)
        greet(brief)

    try:
        assert run(HELLO, agent).verdict.verdict == "pass"
    finally:
        monkeypatch.undo()
        faulthandler.cancel_dump_traceback_later()
    assert cancelled == [True]


@pytest.mark.parametrize(
    "agent",
    [
        lambda brief: sys.exit(0),
        lambda brief: (next(brief.inbox()), sys.exit(0)),
        lambda brief: (greet(brief), sys.exit(1)),
    ],
)
def test_sys_exit_with_work_undone_is_no_pass(agent: Callable[..., Any]) -> None:
    assert run(HELLO, agent).verdict.verdict == "fail"


def test_what_ends_no_process_passes() -> None:
    def agent(brief: Any) -> None:
        got: list[int] = []
        signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), 0)
        os.kill(os.getpid(), signal.SIGCHLD)
        child = subprocess.Popen([sys.executable, "-c", "import os; os._exit(3)"])
        assert (child.wait(), got) == (3, [signal.SIGUSR1])
        greet(brief)
        sys.exit(0)

    assert run(HELLO, agent).verdict.verdict == "pass"


def test_a_thread_of_a_run_that_is_over_cannot_end_the_process() -> None:
    go, raised = threading.Event(), threading.Event()

    def later() -> None:
        go.wait()
        try:
            os._exit(0)
        except process_exits.ProcessExit:
            raised.set()

    def agent(brief: Any) -> None:
        threading.Thread(target=later, daemon=True).start()
        greet(brief)

    assert run(HELLO, agent).verdict.verdict == "pass"
    go.set()
    assert raised.wait(60)


def test_a_thread_of_the_test_session_may_end_the_process() -> None:
    """A time-out of the test session ends the process from its own thread."""
    code = (
        "import os, threading\n"
        "from tests.targets.test_process_exits import HELLO, greet\n"
        "from harness.runner import run\n"
        "go = threading.Event()\n"
        "threading.Thread(target=lambda: (go.wait(), os._exit(7)), daemon=True).start()\n"
        "run(HELLO, lambda brief: (greet(brief), go.set(), threading.Event().wait()))\n"
    )
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, timeout=600).returncode == 7


REPLACEABLE = """
import os, sys, anthropic  # at once: a copy would take seconds to import it
from harness.runner import run
from harness.targets.process_exits import make_replaceable
from tests.targets.test_process_exits import HELLO, greet

def returns(brief):
    os.fork()
    greet(brief)

def leaves(brief):
    if not os.fork():
        os._exit(0)
    greet(brief)

make_replaceable()
for agent in (returns, leaves):
    verdict = run(HELLO, agent).verdict
    print(verdict.verdict, *(finding.message for finding in verdict.findings), flush=True)
"""


def test_a_forked_child_that_returns_is_a_crash_and_does_not_go_on() -> None:
    root = Path(__file__).parents[2]
    made = subprocess.run(
        [sys.executable, "-c", REPLACEABLE], cwd=root, timeout=600, capture_output=True, text=True
    )
    first, second = made.stdout.splitlines()
    assert first.startswith("fail the target crashed")
    assert "a child of the target returned" in first
    assert second == "pass"
