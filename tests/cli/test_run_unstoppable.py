"""`run` against targets that no exception stops: each run has a row, and the next one is played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Harness

ENDLESS = """
import atexit, ctypes, faulthandler, os, re, sys, threading

from agents import good


def first_only(then):
    def agent(brief):
        good(brief)
        if "dear" not in str(brief.store.load("main")):
            then()
    return agent


def swallow():
    while True:
        try:
            threading.Event().wait()
        except BaseException:
            pass


class Endless(Exception):
    def __str__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


def endless_text():
    raise Endless


def garbage():
    for number in range(3, 64):
        try:
            os.write(number, b"~~~~ garbage\\n" * 50)
        except OSError:
            pass


swallows = first_only(swallow)
text = first_only(endless_text)
in_c = first_only(lambda: ctypes.PyDLL(None).sleep(10_000))
pattern = first_only(lambda: re.match(r"(a+)+$", "a" * 64 + "b"))
writes = first_only(garbage)
forgets = first_only(sys.modules.clear)
thread = first_only(lambda: threading.Thread(target=threading.Event().wait).start())
at_exit = first_only(lambda: atexit.register(threading.Event().wait))
late = first_only(lambda: faulthandler.dump_traceback_later(1, exit=True))
quiet = first_only(lambda: setattr(sys, "stdout", None))
threads_exit = first_only(lambda: threading.Thread(target=lambda: sys.exit(0)).start())
"""


@pytest.fixture(autouse=True)
def endless(folder: Path) -> None:
    (folder / "endless.py").write_text(ENDLESS, "utf-8")


def _played(harness: Harness, target: str) -> tuple[list[str], str]:
    """The verdicts of both runs, and the first message."""
    done = harness("run", "--json", "--real-s", "1", "--target", f"endless:{target}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == ["greeting", "greeting/polite"], done.stderr
    found = [finding["message"] for row in rows for finding in row["findings"]]
    return [row["verdict"] for row in rows], (found or [""])[0]


@pytest.mark.real
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("swallows", "goes on after it was stopped; its process was killed at 3 times the limit"),
        ("text", "limits.real_s"),
        ("in_c", "one call of it holds the interpreter and does not return"),
        ("pattern", "one call of it holds the interpreter and does not return"),
    ],
)
def test_a_target_that_nothing_stops_fails_its_run_only(
    harness: Harness, target: str, words: str
) -> None:
    verdicts, message = _played(harness, target)
    assert verdicts == ["fail", "pass"]
    assert words in message


@pytest.mark.parametrize("target", ["writes", "thread", "at_exit", "late", "quiet", "threads_exit"])
def test_what_a_target_leaves_behind_changes_nothing(harness: Harness, target: str) -> None:
    assert _played(harness, target) == (["pass", "pass"], "")


def test_a_target_that_forgets_all_modules_breaks_its_own_run_only(harness: Harness) -> None:
    assert _played(harness, "forgets")[0] == ["fail", "pass"]
