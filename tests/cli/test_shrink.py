"""`shrink`: what it takes, what it leaves, what it says."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.talks import UNGUARDED, Command, loaded, shrink_words


def test_the_file_is_small_and_its_command_fails_with_the_finding(
    in_process: Command, talks: Path
) -> None:
    done = in_process(*shrink_words("--keep", "target.crashed"))
    assert (done.status, done.err) == (0, "")
    file = talks / ".harness/shrunk/chat-crashed.yaml"
    assert file.read_text("utf-8").splitlines()[:3] == [
        "# harness shrink of chat: target.crashed",
        "name: chat-crashed",
        "title: 'Shrunk from chat: target.crashed'",
    ]
    small = loaded(file)
    assert [item.text for item in small.inbox] == ["Oslo."]
    assert (len(small.script), small.stream, small.window_tokens) == (1, False, None)  # type: ignore[arg-type]
    again = in_process(*_repeat(done.out))
    assert again.status == 1
    assert "target.crashed" in again.out


def _repeat(text: str) -> list[str]:
    """The words of the command at the end of a report."""
    line = next(line for line in text.splitlines() if line.startswith("  repeat: "))
    return shlex.split(line.removeprefix("  repeat: "))[1:]


def test_json_is_one_line(in_process: Command) -> None:
    done = in_process(*shrink_words("--keep", "target", "--json", "--out", "small"))
    (row,) = map(json.loads, done.out.splitlines())
    assert list(row) == [
        *("name", "file", "target", "code", "shape", "before", "after"),
        *("tried", "kept", "minimal", "repeats", "repeat"),
    ]
    assert (row["name"], row["file"]) == ("chat", "small/chat-crashed.yaml")
    assert (row["code"], row["minimal"], row["repeats"]) == ("target.crashed", True, True)
    assert row["shape"] == "target.crashed: ValueError in crashes_on_oslo (ended)"
    assert (row["before"]["inbox"], row["after"]["inbox"]) == (3, 1)


def test_the_run_of_the_small_scenario_is_told_to_a_report(
    in_process: Command, talks: Path
) -> None:
    done = in_process(*shrink_words("--keep", "target", "--junit", "small.xml"))
    (suite,) = ElementTree.parse(talks / "small.xml").getroot()
    (failure,) = suite.findall("testcase/failure")
    assert (suite.get("name"), failure.get("type")) == ("chat-crashed", "target.crashed")
    assert suite.get("file") == ".harness/shrunk/chat-crashed.yaml"
    repeat = shlex.join(["harness", *_repeat(done.out)])
    assert f"repeat: {repeat}" in str(suite.findtext("testcase/system-out"))


@pytest.mark.real
def test_a_variant_is_chosen_by_its_name_and_the_seed_by_the_flag(
    in_process: Command, talks: Path
) -> None:
    words = shrink_words("--only", "chat+stream", "--keep", "target", "--seed", "5", "--json")
    assert json.loads(in_process(*words).out)["name"] == "chat+stream"
    assert "--seed 0" in in_process(*words[:-1]).out


@pytest.mark.real
def test_without_a_code_the_first_finding_of_the_agent_is_kept_and_named(
    in_process: Command, talks: Path
) -> None:
    done = in_process("shrink", "scenarios/loop.yaml", "--target", UNGUARDED)
    assert done.status == 0
    assert done.err.startswith(
        "the finding to keep is no_progress_stop.same_failure: read runs again"
    )
    small = loaded(talks / ".harness/shrunk/loop-same-failure.yaml")
    assert len(small.script) <= 2  # type: ignore[arg-type]


@pytest.mark.real
def test_a_run_that_was_kept_is_shrunk_from_its_scenario(in_process: Command, talks: Path) -> None:
    in_process("run", "scenarios/loop.yaml", "--target", UNGUARDED)
    run = ".harness/runs/loop/baseline"
    words = ("--target", UNGUARDED, "--keep", "no_progress_stop.same_failure", "--json")
    from_file = in_process("shrink", run, *words)
    assert json.loads(from_file.out)["before"]["turns"] == 2
    assert all("parts left" in line for line in from_file.err.splitlines())
    (talks / "scenarios/loop.yaml").unlink()
    from_history = in_process("shrink", f"{run}/history.jsonl", *words)
    assert "no ./scenarios with the run 'loop': a scenario is made of its history" in (
        from_history.err
    )
    first, second = json.loads(from_file.out), json.loads(from_history.out)
    assert second["shape"] == first["shape"]
    assert second["after"]["turns"] <= 2


@pytest.mark.real
def test_a_time_that_is_over_leaves_the_smallest_by_then_played_once_more(
    in_process: Command, talks: Path
) -> None:
    done = in_process(*shrink_words("--keep", "target", "--minutes", "0.000001"))
    assert done.status == 0
    assert "the time is over: perhaps not the smallest possible" in done.out
    assert "0 candidates, 0 kept" in done.out
    assert len(loaded(talks / ".harness/shrunk/chat-crashed.yaml").inbox) == 3


@pytest.mark.real
def test_the_session_of_the_last_run_is_kept_beside_the_file(
    in_process: Command, talks: Path
) -> None:
    words = shrink_words("--keep", "target", "--keep-session", "--json", "--out", "small")
    for _ in range(2):
        row = json.loads(in_process(*words).out)
        assert row["session"] == "small/chat-crashed.session"
        assert (talks / row["session"]).is_dir()


@pytest.mark.real
def test_in_real_time_it_says_what_a_run_costs(in_process: Command) -> None:
    done = in_process(
        *shrink_words("--only", "chat", "--keep", "target", "--world", "supervise", "--json")
    )
    assert "runs are in real time" in done.err
    assert json.loads(done.out)["after"]["inbox"] == 1
