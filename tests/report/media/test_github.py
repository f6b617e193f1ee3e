"""Annotations of GitHub Actions: escaped, bounded, at the file and line where to look."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.verdict import Finding, Verdict
from harness.report.media.github import KIND_MAX, github, workflow_command
from harness.verdicts.command_events import CommandStarted
from harness.verdicts.result import Result
from tests.report.fabricated import summary as run
from tests.report.test_command_summary import crash

SCENARIO = "name: a\nscript: []\nvariants:\n  slow:\n    seed: 1\n"


def at(file: str, name: str, *found: Finding) -> Result:
    """A failing run of this file."""
    return msgspec.structs.replace(run(name, Verdict("fail", findings=found)), file=file)


@pytest.fixture
def command(tmp_path: Path) -> CommandStarted:
    """A repository with an agent and a scenario, in whose folder `sub` the command starts."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/agent.py").write_text("agent = 1\n", "utf-8")
    (tmp_path / "sub/a.yaml").write_text(SCENARIO, "utf-8")
    return CommandStarted(verb="run", folder=tmp_path / "sub", repository=tmp_path)


def test_a_crash_is_at_the_agent_and_another_cause_at_its_scenario(command: CommandStarted) -> None:
    runs = [at("a.yaml", "a/slow@gemini+stream", Finding("x.y", "bad", class_="defect")),
            at("a.yaml", "a", crash("agent.py:1", "KeyError", "x"))]  # fmt: skip
    first, second = github(runs, command)
    assert first.startswith("::error title=target.crashed%2C 1 run,file=sub/agent.py,line=1::")
    assert "title=x.y  (defect)%2C 1 run,file=sub/a.yaml,line=4::bad%0Aharness run " in second


def test_a_file_outside_of_the_repository_is_not_named(command: CommandStarted) -> None:
    runs = [at("/etc/hostname", "a", Finding("x.y", "bad"))]
    runs += [at("gone.yaml", "b", Finding("x.z", "bad"))]
    assert not any("file=" in line for line in github(runs, command))


def test_ten_of_a_kind_of_which_the_last_says_what_is_left(command: CommandStarted) -> None:
    many = [at("a.yaml", f"a/{n}", Finding(f"x.r{n}", "bad")) for n in range(30)]
    odd = [run(f"o/{n}", Verdict("unknown", doubts=("why",))) for n in range(12)]
    lines = list(github([*many, *odd], command))
    kinds = [line.partition(" ")[0] for line in lines]
    assert kinds == ["::error"] * KIND_MAX + ["::warning"] * KIND_MAX
    assert (
        lines[KIND_MAX - 1] == "::error title=harness::21 more causes: see the summary of the job"
    )
    exactly = list(github(many[:KIND_MAX], command))
    assert len(exactly) == KIND_MAX
    assert "more causes" not in exactly[-1]


def test_what_does_not_fail_is_a_notice(command: CommandStarted) -> None:
    kind = Verdict("pass", findings=(Finding("x.y", "taste", class_="advice"),))
    (line,) = github([run("a", kind)], command)
    assert line.startswith("::notice ")


@given(st.text(), st.text())
def test_text_stays_text_in_one_line(title: str, message: str) -> None:
    line = workflow_command("error", message, title=title)
    head, _, said = line.removeprefix("::error title=").partition("::")
    assert not any(letter in line for letter in "\r\n\x1b")
    assert not any(letter in head for letter in ":,")
    back = said.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
    assert back.count("\n") == message.count("\n")
