"""`fork`: another answer at one call, and what came of it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.talks import UNGUARDED, Command, loaded

FORK = ("fork", "scenarios/loop.yaml", "--target", UNGUARDED)


def test_what_came_of_it_is_said_and_the_scenario_can_be_kept(
    in_process: Command, talks: Path
) -> None:
    done = in_process(*FORK, "--at", "main/model#2", "--set", "say=I cannot read it.")
    assert done.status == 0
    assert "gone in B:\n  no_progress_stop.same_failure" in done.out
    assert "only in B" not in done.out
    small = loaded(talks / ".harness/forked/loop-main-model-2.yaml")
    assert [turn.use or turn.say for turn in small.script][:3] == [  # type: ignore[union-attr]
        "read",
        "I cannot read it.",
        "read",
    ]
    repeat = next(line for line in done.out.splitlines() if line.startswith("  repeat:"))
    again = in_process(*shlex.split(repeat.removeprefix("  repeat:"))[1:])
    assert again.status == 0


def test_an_event_of_a_kept_run_is_named_by_its_number(in_process: Command, talks: Path) -> None:
    in_process("run", "scenarios/loop.yaml", "--target", UNGUARDED)
    run = ".harness/runs/loop/baseline"
    lines = in_process("show", run, "--json").out.splitlines()
    first = next(e for e in map(json.loads, lines) if e.get("key") == "main/tool#1")
    words = ("fork", run, "--target", UNGUARDED, "--at", f"#{first['n']}")
    done = in_process(*words, "--set", "ok=all of it", "--json", "--out", "kept")
    (row,) = map(json.loads, done.out.splitlines())
    assert (row["name"], row["file"]) == ("loop", "kept/loop-main-tool-1.yaml")
    assert row["differs"].startswith("the answer to tool read")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at", "main/model#99", "--set", "say=x"), "no answer 'main/model#99'"),
        (("--at", "main/model#1", "--set", "say"), "is not NAME=VALUE"),
        (("--at", "main/model#1", "--set", "sy=x"), "not an answer of main/model#1"),
        (("--at", "main/model#1", "--set", "input={a: [}"), "line 1"),
        (("--at", "main/model#1"), "Missing option '--set'"),
    ],
)
def test_what_cannot_be_another_way_is_refused(
    in_process: Command, talks: Path, words: tuple[str, ...], said: str
) -> None:
    done = in_process(*FORK, *words)
    assert done.status == 2
    assert said in done.err
