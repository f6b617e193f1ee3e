"""`shrink`: what it takes, what it leaves, what it says."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.cli import main
from harness.cli.shrink_source import kebab
from harness.core.scenario import Scenario
from harness.load import load_scenarios
from tests.cli.conftest import Harness

CHAT = """\
name: chat
title: A long talk
stream: both
window_tokens: 100000
inbox:
  - {id: m1, text: "Good morning, how are you?"}
  - {id: m2, text: "Please tell me all about the weather in Oslo."}
  - {id: m3, text: "Thank you very much."}
script:
  - {say: "I am well, thank you."}
  - {say: "It rains."}
  - {say: "You are welcome."}
variants:
  quiet: {inbox: "Good evening", script: [{say: "Good evening."}]}
"""

LOOP = """\
name: loop
seed: 3
inbox: Read the file, please.
tools:
  read:
    input_schema: {type: object, properties: {path: {type: string}}}
    script: [{error: no such file, times: forever}]
script:
  - {use: read, input: {path: a.txt}, times: 20}
  - {say: I cannot read it., when: ended}
"""

AGENTS = '''\
"""Agents that end in the middle of shrinking, or do not do the same each time."""

import os
import signal

from tests.campaign.shrinking.agents import crashes_on_oslo

PLAYED = []


def interrupting(brief):
    PLAYED.append(brief)
    if len(PLAYED) == 6:
        os.kill(os.getpid(), signal.SIGINT)
    crashes_on_oslo(brief)


def fickle(brief):
    PLAYED.append(brief)
    if len(PLAYED) == 1:
        crashes_on_oslo(brief)
'''

OSLO = "tests.campaign.shrinking.agents:crashes_on_oslo"
UNGUARDED = "tests.campaign.shrinking.agents:has_no_guards"


class Done(NamedTuple):
    """How a command ended."""

    status: object
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder to work in, the current one, with a talk and a loop."""
    (folder / "scenarios/chat.yaml").write_text(CHAT, "utf-8")
    (folder / "scenarios/loop.yaml").write_text(LOOP, "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return folder


@pytest.fixture
def command(folder: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line, in this process."""

    def run(*words: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(words)
        said = capsys.readouterr()
        return Done(ended.value.code, said.out, said.err)

    return run


def _shrink(*words: str, target: str = OSLO) -> tuple[str, ...]:
    return ("shrink", "scenarios/chat.yaml", "--target", target, *words)


def _loaded(file: Path) -> Scenario:
    (scenario,) = load_scenarios(file)
    return scenario


def test_the_file_is_small_and_its_command_fails_with_the_finding(
    command: Command, folder: Path
) -> None:
    done = command(*_shrink("--keep", "target.crashed"))
    assert (done.status, done.err) == (0, "")
    file = folder / ".harness/shrunk/chat-crashed.yaml"
    assert file.read_text("utf-8").splitlines()[:3] == [
        "# harness shrink of chat: target.crashed",
        "name: chat-crashed",
        "title: 'Shrunk from chat: target.crashed'",
    ]
    small = _loaded(file)
    assert [item.text for item in small.inbox] == ["Oslo."]
    assert (len(small.script), small.stream, small.window_tokens) == (1, False, None)  # type: ignore[arg-type]
    again = command(*_repeat(done.out))
    assert again.status == 1
    assert "target.crashed" in again.out


def _repeat(text: str) -> list[str]:
    """The words of the command at the end of a report."""
    line = next(line for line in text.splitlines() if line.startswith("  repeat: "))
    return shlex.split(line.removeprefix("  repeat: "))[1:]


def test_json_is_one_line(command: Command) -> None:
    done = command(*_shrink("--keep", "target", "--json", "--out", "small"))
    (row,) = map(json.loads, done.out.splitlines())
    assert list(row) == [
        *("name", "file", "target", "code", "shape", "before", "after"),
        *("tried", "kept", "minimal", "repeats", "repeat"),
    ]
    assert (row["name"], row["file"]) == ("chat", "small/chat-crashed.yaml")
    assert (row["code"], row["minimal"], row["repeats"]) == ("target.crashed", True, True)
    assert row["shape"] == "target.crashed: ValueError in crashes_on_oslo (ended)"
    assert (row["before"]["inbox"], row["after"]["inbox"]) == (3, 1)


def test_a_variant_is_chosen_by_its_name_and_the_seed_by_the_flag(
    command: Command, folder: Path
) -> None:
    words = _shrink("--only", "chat+stream", "--keep", "target", "--seed", "5", "--json")
    assert json.loads(command(*words).out)["name"] == "chat+stream"
    assert "--seed 0" in command(*words[:-1]).out


def test_without_a_code_the_first_finding_of_the_agent_is_kept_and_named(
    command: Command, folder: Path
) -> None:
    done = command("shrink", "scenarios/loop.yaml", "--target", UNGUARDED)
    assert done.status == 0
    assert done.err.startswith("kept is no_progress_stop.same_call: read runs again")
    small = _loaded(folder / ".harness/shrunk/loop-same-call.yaml")
    assert len(small.script) <= 2  # type: ignore[arg-type]


@pytest.mark.real
def test_a_run_that_was_kept_is_shrunk_from_its_scenario(command: Command, folder: Path) -> None:
    command("run", "scenarios/loop.yaml", "--target", UNGUARDED)
    run = ".harness/runs/loop/baseline"
    words = ("--target", UNGUARDED, "--keep", "no_progress_stop.same_failure", "--json")
    from_file = command("shrink", run, *words)
    assert json.loads(from_file.out)["before"]["turns"] == 2
    assert from_file.err == ""
    (folder / "scenarios/loop.yaml").unlink()
    from_history = command("shrink", f"{run}/history.jsonl", *words)
    assert "no ./scenarios with the run 'loop': a scenario is made of its history" in (
        from_history.err
    )
    first, second = json.loads(from_file.out), json.loads(from_history.out)
    assert second["shape"] == first["shape"]
    assert second["after"]["turns"] <= 2


@pytest.mark.real
def test_in_real_time_it_says_what_a_run_costs(command: Command) -> None:
    done = command(*_shrink("--only", "chat", "--keep", "target", "--world", "supervise", "--json"))
    assert "runs are in real time" in done.err
    assert json.loads(done.out)["after"]["inbox"] == 1


@pytest.mark.real
def test_hash_seeds_change_nothing(harness: Harness, folder: Path) -> None:
    root = str(Path(__file__).parents[2])
    first, second = (
        harness(*_shrink("--keep", "target"), PYTHONHASHSEED=seed, PYTHONPATH=root)
        for seed in ("1", "2")
    )
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert "3 turns, 3 messages -> 1 turn, 1 message" in first.stdout


def test_ctrl_c_keeps_the_smallest_so_far(harness: Harness, folder: Path) -> None:
    (folder / "ends.py").write_text(AGENTS, "utf-8")
    words = _shrink("--keep", "target", "--out", "small", target="ends:interrupting")
    done = harness(*words, PYTHONPATH=str(Path(__file__).parents[2]))
    assert done.returncode == 130, done.stderr
    assert "interrupted: this is the smallest so far" in done.stdout
    small = _loaded(folder / "small/chat-crashed.yaml")
    assert any("Oslo" in item.text for item in small.inbox)


@pytest.mark.real
def test_an_agent_that_does_not_do_the_same_twice_is_said(harness: Harness, folder: Path) -> None:
    (folder / "ends.py").write_text(AGENTS, "utf-8")
    words = _shrink("--keep", "target.crashed", "--only", "chat", target="ends:fickle")
    done = harness(*words, PYTHONPATH=str(Path(__file__).parents[2]))
    assert done.returncode == 3, done.stderr
    assert "the agent does not do the same each time" in done.stdout


WRONG = {
    "no target": (("shrink", "scenarios/chat.yaml"), "--target: say which agent"),
    "no such check": (_shrink("--keep", "targt.crashed"), "did you mean 'target'?"),
    "no such finding": (
        _shrink("--keep", "target.hung", "--only", "chat"),
        "chat: no finding 'target.hung', but target.crashed",
    ),
    "in none of the runs": (
        _shrink("--keep", "target.crashed", target="reference"),
        "scenarios/chat.yaml: in 4 runs: no finding, so there is nothing to keep",
    ),
    "no such file": (("shrink", "nowhere.yaml", "--target", "reference"), "nowhere.yaml: no such"),
    "a folder without a run": (("shrink", "scenarios", "--target", "reference"), "no history"),
    "no such run": (
        _shrink("--only", "chatt"),
        "--only chatt: no run of this name; did you mean 'chat'?",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input(command: Command, what: str) -> None:
    words, said = WRONG[what]
    done = command(*words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_the_scenario_itself_is_never_written_over(command: Command, folder: Path) -> None:
    small = "scenarios/chat-crashed.yaml"
    (folder / small).write_text(CHAT.replace("name: chat", "name: chat-crashed"), "utf-8")
    (folder / "scenarios/chat-crashed-crashed.yaml").symlink_to(folder / small)
    done = command("shrink", small, "--target", OSLO, "--out", "scenarios")
    assert done.status == 2
    assert "the folder of the scenario itself" in done.err
    assert "A long talk" in (folder / small).read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "name"),
    [("valid_request.V4", "valid-request-v4"), ("a--b.", "a-b"), ("Übung", "bung")],
)
def test_names_in_kebab_case(text: str, name: str) -> None:
    assert kebab(text) == name
