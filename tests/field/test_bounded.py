"""A sample is played within bounds, by commands of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.field.bounded import Bounds, Command, Played, Run, play_within

PLAYER = """
import json, pathlib, signal, sys
out, *names = sys.argv[1:]
held = []

def end(number, frame):
    for name in held:
        print(json.dumps({"name": name, "verdict": "unknown"}), flush=True)
    sys.exit(143)

signal.signal(signal.SIGTERM, end)
for name in names:
    while name.startswith("long"):
        signal.pause()
    folder = pathlib.Path(out, name, "baseline")
    folder.mkdir(parents=True)
    (folder / "verdict.json").write_text("{}")
    if name.startswith("held") and any(n.startswith("long") for n in names):
        held.append(name)
    else:
        print(json.dumps({"name": name, "verdict": "pass"}), flush=True)
"""
"""A command that plays `long*` until it is told to end, and `held*` once nothing long is left."""

BRIEF = Bounds(run_s=0.2, all_s=60)


def _played(folder: Path, bounds: Bounds, *names: str, code: str = PLAYER) -> tuple[Played, int]:
    commands: list[Command] = []

    def start(runs: Sequence[Run]) -> Command:
        out = folder / str(len(commands))
        lines = folder / f"{len(commands)}.jsonl"
        words = [sys.executable, "-c", code, str(out), *(name for _, name in runs)]
        with lines.open("wb") as kept:
            commands.append(Command(subprocess.Popen(words, stdout=kept), lines, out))
        return commands[-1]

    return play_within(bounds, [(f"{name}.yaml", name) for name in names], start), len(commands)


def _names(played: Played) -> list[str]:
    return [line["name"] for line in played.lines]


def test_runs_that_end_in_time_are_one_command(tmp_path: Path) -> None:
    played, commands = _played(tmp_path, BRIEF, "a", "held", "b")
    assert (_names(played), played.left_out, commands) == (["a", "held", "b"], {}, 1)


def test_a_run_that_takes_too_long_is_left_out_and_the_others_are_played(tmp_path: Path) -> None:
    played, commands = _played(tmp_path, BRIEF, "a", "long-1", "b", "long-2", "c")
    assert (_names(played), commands) == (["a", "b", "c"], 3)
    assert played.left_out == dict.fromkeys(("long-1", "long-2"), "it takes more than 0.2 s")


def test_what_an_ended_command_could_not_decide_is_played_again(tmp_path: Path) -> None:
    played, commands = _played(tmp_path, BRIEF, "held", "long", "b")
    assert (sorted(_names(played)), commands) == (["b", "held"], 2)


def test_runs_for_which_no_time_is_left_are_named(tmp_path: Path) -> None:
    played, commands = _played(tmp_path, Bounds(run_s=60, all_s=0), "long", "b")
    assert (played.lines, commands) == ([], 1)
    assert played.left_out == dict.fromkeys(("long", "b"), "no time is left of 0 minutes")


NOTHING_ASKED = """
import json, sys
for name in sys.argv[2:]:
    print(json.dumps({"name": name, "verdict": "not_applicable"}))
print(json.dumps({"not_applicable": []}))
sys.exit(3)
"""


def test_a_command_of_which_nothing_is_applicable_has_not_failed(tmp_path: Path) -> None:
    played, _ = _played(tmp_path, BRIEF, "a", "b", code=NOTHING_ASKED)
    assert [line.get("name") for line in played.lines] == ["a", "b", None]
    with pytest.raises(OSError, match="failed with status 3"):
        _played(tmp_path, BRIEF, "a", code="raise SystemExit(3)")


def test_a_command_that_fails_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="failed with status 2"):
        _played(tmp_path, BRIEF, "a", code="raise SystemExit(2)")
