"""`--profile`, and the profile that the configuration names: what reaches the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.core.history.history import History, decode
from tests.cli.conftest import AGENTS
from tests.cli.talks import Command

SLOW = """\
[tool.harness]
profile = "slow"
seed = 7

[tool.harness.profiles.slow]
target = "mine_agents:good"
limits = {real_s = 77}
purposes = {"^Sum" = "compact"}

[tool.harness.profiles.slow.checks.no_progress_stop]
repeats = 9

[tool.harness.profiles.other]
wires = ["openai-chat"]
"""

SCENARIO = """\
name: sums
inbox: Hello
script: [{say: Good morning.}]
purposes: {"^Mine": aux}
limits: {real_s: 5}
checks: {no_progress_stop: {failures: 4}}
"""


def history(folder: Path) -> History:
    return decode((folder / ".harness/runs/sums/baseline/history.jsonl").read_bytes())


def settings(folder: Path) -> Any:
    return history(folder).trace.settings


@pytest.fixture(autouse=True)
def configured(talks: Path) -> None:
    (talks / "mine_agents.py").write_text(AGENTS)
    (talks / "pyproject.toml").write_text(SLOW)
    (talks / "scenarios" / "sums.yaml").write_text(SCENARIO)


def test_the_configured_profile_reaches_the_history(in_process: Command, talks: Path) -> None:
    done = in_process("run", "scenarios/sums.yaml", "--json")
    line = json.loads(done.out.splitlines()[0])
    assert (line["verdict"], line["target"], line["seed"]) == ("pass", "mine_agents:good", 7)
    said = settings(talks)
    assert said["checks"] == {"no_progress_stop": {"repeats": 9, "failures": 4}}
    assert said["limits"]["real_s"] == 77
    assert history(talks).trace.profile.purposes == {"^Sum": "compact"}


def test_flags_win_and_nothing_is_read_without_configuration(
    in_process: Command, talks: Path
) -> None:
    done = in_process(
        "run", "scenarios/sums.yaml", "--seed", "3", "--target", "mine_agents:wrong", "--json"
    )
    line = json.loads(done.out.splitlines()[0])
    assert (line["target"], line["seed"]) == ("mine_agents:wrong", 3)
    assert in_process("run", "scenarios/sums.yaml", "--no-config").status == 2
    in_process("run", "scenarios/sums.yaml", "--no-config", "--target", "mine_agents:good")
    assert "profile" not in settings(talks)


def test_a_profile_of_a_file(in_process: Command, talks: Path) -> None:
    (talks / "mine.yaml").write_text("target: mine_agents:good\nlimits: {real_s: 66}\n")
    done = in_process("run", "scenarios/sums.yaml", "--profile", "mine.yaml", "--json")
    assert done.status == 0
    assert settings(talks)["limits"]["real_s"] == 66
    finding = in_process("run", "scenarios/sums.yaml", "--profile", "mine.yaml", "--target",
                      "mine_agents:wrong")  # fmt: skip
    assert "--profile mine.yaml" in finding.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--profile", "slwo"), "no profile of this name, and no file; did you mean 'slow'?"),
        (("--profile", "gone.toml"), "gone.toml: cannot be read"),
        (("--profile", "wrong.yaml"), "wrong.yaml:1: key `targt`: unknown; did you mean 'target'?"),
        (("--profile", "setting.yaml"), "no_progress_stop has no setting 'repeat'; did you mean"),
        (("--profile", "check.yaml"), "there is no check 'no_progress'; did you mean"),
    ],
)
def test_a_profile_that_cannot_be_used(
    words: tuple[str, ...], said: str, in_process: Command, talks: Path
) -> None:
    (talks / "wrong.yaml").write_text("targt: mine_agents:good\n")
    (talks / "setting.yaml").write_text("checks: {no_progress_stop: {repeat: 1}}\n")
    (talks / "check.yaml").write_text("checks: {no_progress: {repeats: 1}}\n")
    done = in_process("run", "scenarios/sums.yaml", "--target", "mine_agents:good", *words)
    assert done.status == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_shrink_and_judge_take_it_too(in_process: Command, talks: Path) -> None:
    done = in_process(
        "shrink", "scenarios/sums.yaml", "--target", "mine_agents:wrong", "--profile", "slow"
    )
    assert done.status == 0
    assert "--profile slow" in done.out
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    (talks / "talk.jsonl").write_text(json.dumps({"messages": said}) + "\n")
    assert in_process("judge", "talk.jsonl", "--profile", "slow").status == 0
    assert in_process("judge", "talk.jsonl", "--profile", "slwo").status == 2


def test_the_limit_of_the_command_wins(in_process: Command, talks: Path) -> None:
    in_process("run", "scenarios/sums.yaml", "--real-s", "61")
    assert settings(talks)["limits"] == {"real_s": 61.0}


def test_the_limit_of_the_command_is_repeated(in_process: Command, talks: Path) -> None:
    failing = ("run", "scenarios/sums.yaml", "--target", "mine_agents:silent", "--real-s", "61")
    assert "--real-s 61" in in_process(*failing).out
