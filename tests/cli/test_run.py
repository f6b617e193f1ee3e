"""`run`: which runs, in what order, said how."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from tests.cli.conftest import Harness
from tests.cli.talks import REFERENCE
from tests.report.media.test_json_lines import FINDING_KEYS

KEYS = [
    *("name", "target", "world", "seed", "verdict", "outcome"),
    *("findings", "not_applicable", "history"),
]


def test_json_lines(harness: Harness, folder: Path) -> None:
    done = harness("run", "--json", "--target", "agents:wrong", "scenarios", "--seed", "9")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["name"] for row in rows] == ["greeting", "greeting/polite"]
    for row in rows:
        assert set(KEYS) <= set(row)
        assert (row["seed"], row["world"], row["verdict"]) == (9, "simulate", "fail")
        assert (folder / row["history"]).is_file()
        for finding in row["findings"]:
            assert set(finding) == {*FINDING_KEYS}
            assert finding["code"].startswith(f"{finding['check']}.")


def test_the_command_of_a_failure_repeats_it(harness: Harness) -> None:
    first = harness("run", "--target", "agents:wrong", "--seed", "3", "-v")
    commands = [line for line in first.stdout.splitlines() if line.startswith("  repeat:")]
    assert len(commands) == 2
    again = harness(*shlex.split(commands[1].removeprefix("  repeat:"))[1:], "-v")
    assert again.returncode == 1
    block = first.stdout.split("\nFAIL greeting/polite\n")[1].partition("\n\n")[0]
    assert again.stdout.split("\nFAIL greeting/polite\n")[1].startswith(f"{block}\n")


def test_the_command_of_a_cause_shows_its_run_whole(harness: Harness) -> None:
    first = harness("run", "--target", "agents:wrong", "--seed", "3").stdout
    (command,) = (line for line in first.splitlines() if line.startswith("repeat:"))
    again = harness(*shlex.split(command.removeprefix("repeat:"))[1:]).stdout
    assert "\nFAIL greeting\n" in again
    assert "  history: .harness/runs/greeting/baseline/history.jsonl" in again


def test_workers_change_nothing_of_the_output(harness: Harness) -> None:
    one = harness("run", "--target", "agents:good")
    two = harness("run", "-j", "2", "--target", "agents:good")
    assert one.stdout == two.stdout
    assert two.returncode == 0


def test_two_runs_print_the_same(harness: Harness) -> None:
    words = ("run", "--target", "agents:wrong")
    first, second = (harness(*words, PYTHONHASHSEED=seed).stdout for seed in ("1", "2"))
    assert first == second


def test_only_and_dry_run(harness: Harness, folder: Path) -> None:
    done = harness("run", "--dry-run", "--only", "*/pol*")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "greeting/polite")
    rows = harness("run", "--dry-run", "--json").stdout.splitlines()
    assert [json.loads(row)["name"] for row in rows] == ["greeting", "greeting/polite"]
    assert not (folder / ".harness").exists()


def test_two_files_with_one_name_are_an_error(harness: Harness, folder: Path) -> None:
    (folder / "more").mkdir()
    text = (folder / "scenarios/greeting.yaml").read_text("utf-8")
    (folder / "more/greeting.yaml").write_text(text, "utf-8")
    done = harness("run", "scenarios", "more", "--target", "agents:good")
    assert done.returncode == 2
    assert "more/greeting.yaml: the run 'greeting' is in scenarios/greeting.yaml too" in done.stderr


def test_without_a_folder_of_scenarios(harness: Harness, folder: Path) -> None:
    (folder / "scenarios").rename(folder / "elsewhere")
    done = harness("run", "--target", "agents:good")
    assert done.returncode == 2
    assert "there is no ./scenarios here" in done.stderr


def test_only_the_runs_of_a_wire(harness: Harness, folder: Path) -> None:
    text = (folder / "scenarios" / "greeting.yaml").read_text()
    wires = "wire: [anthropic, openai-chat]\n"
    (folder / "scenarios" / "greeting.yaml").write_text(text + wires)
    done = harness("run", "--dry-run", "--json", "--wire", "openai-chat")
    names = [json.loads(row)["name"] for row in done.stdout.splitlines()]
    assert names == ["greeting@openai-chat", "greeting/polite@openai-chat"]
    none = harness("run", "--dry-run", "--wire", "openai-responses")
    assert (none.returncode, none.stdout) == (2, "")
    assert "no run on this wire" in none.stderr


def test_what_is_required_and_was_not_reached_fails_the_command(
    harness: Harness, folder: Path
) -> None:
    words = ("run", "--target", REFERENCE, "scenarios", "--require-reached")
    missed = harness(*words, "http.*", "--require-reached", "answer_taken")
    assert missed.returncode == 1
    assert "never reached, and required: http.*" in missed.stderr
    assert "answer_taken" not in missed.stderr
    assert harness(*words, "answer_taken").returncode == 0


MARKED = """
import harness
from harness.agent import build


def agent(brief):
    harness.reachable("begins")
    harness.sometimes(brief.wire == "another", "another wire")
    build(brief).run()
"""


def test_a_mark_of_the_agents_own_code_can_be_required(harness: Harness, folder: Path) -> None:
    (folder / "marked.py").write_text(MARKED)
    words = ("run", "--target", "marked:agent", "scenarios", "--require-reached")
    assert harness(*words, "mark:begins").returncode == 0
    missed = harness(*words, "mark:another*", "--require-reached", "mark:ends")
    assert missed.returncode == 1
    for name in ("mark:another*", "mark:ends"):
        assert f"never reached, and required: {name}" in missed.stderr
    assert "marks never true, 1 of 2: another wire" in missed.stdout
