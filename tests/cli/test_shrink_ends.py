"""`shrink` to the end or broken off: with any hash seed, by Ctrl-C, by an agent that changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Harness
from tests.cli.talks import loaded, shrink_words

AGENTS = '''\
"""Agents that end in the middle of shrinking, or do not do the same each time."""

import ctypes
import os
import signal
import threading

from tests.shrink.agents import crashes_on_oslo


def played():
    "How often this process and its children have played, by a file that all of them see."
    with open("played", "a+") as file:
        file.write("x")
        return file.tell()


def interrupting(brief):
    if played() == 6:
        ctypes.CDLL(None).kill(os.getppid(), signal.SIGINT)
        threading.Event().wait(60)
    crashes_on_oslo(brief)


def fickle(brief):
    if played() == 1:
        crashes_on_oslo(brief)
'''


@pytest.mark.real
def test_hash_seeds_change_nothing(harness: Harness, talks: Path) -> None:
    root = str(Path(__file__).parents[2])
    first, second = (
        harness(*shrink_words("--keep", "target"), PYTHONHASHSEED=seed, PYTHONPATH=root)
        for seed in ("1", "2")
    )
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert "3 turns, 3 messages -> 1 turn, 1 message" in first.stdout


@pytest.mark.real
def test_ctrl_c_keeps_the_smallest_so_far(harness: Harness, talks: Path) -> None:
    (talks / "ends.py").write_text(AGENTS, "utf-8")
    words = shrink_words(
        "--keep", "target", "--out", "small", target="ends:interrupting?folder=shared"
    )
    done = harness(*words, PYTHONPATH=str(Path(__file__).parents[2]))
    assert done.returncode == 130, done.stderr
    assert "interrupted: the smallest scenario so far" in done.stdout
    small = loaded(talks / "small/chat-crashed.yaml")
    assert any("Oslo" in item.text for item in small.inbox)


@pytest.mark.real
def test_an_agent_that_does_not_do_the_same_twice_is_said(harness: Harness, talks: Path) -> None:
    (talks / "ends.py").write_text(AGENTS, "utf-8")
    words = shrink_words(
        "--keep", "target.crashed", "--only", "chat", target="ends:fickle?folder=shared"
    )
    done = harness(*words, PYTHONPATH=str(Path(__file__).parents[2]))
    assert done.returncode == 3, done.stderr
    assert "the agent behaves differently each time" in done.stdout


@pytest.mark.real
def test_a_secret_of_the_scenario_is_not_in_the_small_one(harness: Harness, folder: Path) -> None:
    secret = f"sk-ant-api03-{'a1B2' * 20}-AA"
    told = (folder / "scenarios/greeting.yaml").read_text().replace("Hello", f"Hello {secret}")
    (folder / "scenarios/greeting.yaml").write_text(told)
    (folder / "agents.py").write_text(
        "def telling(brief):\n"
        f"    if {secret!r} in next(iter(brief.inbox())).text:\n"
        "        raise ValueError('told')\n"
    )
    words = ("--target", "agents:telling", "--keep", "target", "--only", "greeting")
    done = harness("shrink", "scenarios/greeting.yaml", *words, "--out", "small")
    (small,) = (folder / "small").glob("*.yaml")
    assert secret not in small.read_text() + done.stdout
    assert "does not show the finding" in done.stdout
