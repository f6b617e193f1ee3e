"""The guards alone in a foreign loop: they end what gets nowhere, and leave the rest alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import Any

import pytest

from examples.guards_in_your_loop import SPECS, STORIES, Row, model, shop, turn
from tests.scenarios.all_runs import ROOT


def played(*calls: tuple[str, Any]) -> tuple[list[Row], list[str]]:
    """The rows of a turn, and the tools that ran."""
    tools, ran = shop()
    return turn(model(*calls), tools, SPECS), ran


@pytest.mark.parametrize(
    ("title", "runs", "says"),
    [
        ("the arguments never arrive", 0, "without"),
        ("the same call fails", 3, "write failed 3 times"),
        ("two calls go in a circle", 6, "2 calls"),
        ("a tool that is not there", 0, "remember failed 3 times"),
        ("waiting for a job", 5, "It is done."),
    ],
)
def test_each_story_ends_as_told(title: str, runs: int, says: str) -> None:
    rows, ran = played(*STORIES[title])
    assert len(ran) == runs
    assert says in rows[-1]["text"]


@pytest.mark.parametrize("title", STORIES)
def test_every_call_has_one_result(title: str) -> None:
    rows, _ = played(*STORIES[title])
    asked = [call[0] for row in rows for call in row.get("calls", ())]
    assert asked == [row["id"] for row in rows if "id" in row]


def test_a_batch_is_answered_whole() -> None:
    tools, ran = shop()
    calls = [(f"c{n}", "write", {"file": "a"}) for n in range(6)]
    replies = iter([{"calls": calls, "text": ""}, {"calls": (), "text": "I give up."}])
    rows = turn(lambda rows: next(replies), tools, SPECS)
    assert len(ran) == 3
    assert [row["failed"] for row in rows[1:7]] == [True] * 6
    assert rows[-1]["text"] == "I give up."


def test_turns_are_apart() -> None:
    first, second = played(("write", {"file": "a"})), played(("write", {"file": "a"}))
    assert first == second


def test_guidance_comes_before_refusal() -> None:
    rows, _ = played(("write", {"file": "a"}))
    texts = [row["text"] for row in rows if "id" in row]
    assert texts[0] == "KeyError: 'path'"
    assert texts[1].startswith("KeyError: 'path'\n[write has now failed 2 times")


def test_the_loop_is_short_and_needs_nothing_else_of_ours() -> None:
    tree = ast.parse((ROOT / "examples" / "guards_in_your_loop.py").read_text())
    [loop] = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "turn"]
    assert (loop.end_lineno or 0) - loop.body[1].lineno + 1 <= 20
    ours = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {m for m in ours if m and m.startswith("harness")} == {"harness", "harness.agent"}


def test_it_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "examples/guards_in_your_loop.py"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line for line in done.stdout.splitlines() if not line.startswith(" ")] == [
        "the arguments never arrive: 0 calls run",
        "the same call fails: 3 calls run",
        "two calls go in a circle: 6 calls run",
        "a tool that is not there: 0 calls run",
        "waiting for a job: 5 calls run",
    ]
