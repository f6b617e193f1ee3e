"""Which findings fail a run and which do not, and who says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import AGENTS
from tests.cli.talks import Command

ADVISED = """
def advised(brief):
    for inbound in brief.inbox():
        brief.store.accept(inbound, Message("user", (Text(inbound.text),)))
        texts = ["Be kind.", inbound.text]
        said = ask(brief, [{"role": "user", "content": text} for text in texts])
        text = "".join(block["text"] for block in said["content"])
        brief.store.reply(inbound, Message("assistant", (Text(text),)), "completed", "final")
        brief.send(text)
"""
"""An agent with one finding, which is advice: two messages of the user in a row."""

SCENARIO = """\
name: kind
inbox: Hello
script: [{say: Good morning.}]
variants:
  strict: {expect: {fail_on: advice}}
  lenient: {expect: {fail_on: defect}}
"""
RUN = ("run", "scenarios/kind.yaml", "--target", "advised_agents:advised")
CODE = "role_alternation.wire"


@pytest.fixture(autouse=True)
def agents(talks: Path) -> None:
    (talks / "advised_agents.py").write_text(AGENTS + ADVISED)
    (talks / "scenarios" / "kind.yaml").write_text(SCENARIO)


def words(in_process: Command, *flags: str) -> list[tuple[str, str, list[str]]]:
    """The name, the verdict and the codes of each run."""
    lines = [json.loads(line) for line in in_process(*RUN, "--json", *flags).out.splitlines()]
    return [(row["name"], row["verdict"], [f["code"] for f in row["findings"]]) for row in lines]


def test_the_scenario_draws_it(in_process: Command) -> None:
    assert words(in_process) == [
        ("kind", "pass", [CODE]),
        ("kind/strict", "fail", [CODE]),
        ("kind/lenient", "pass", [CODE]),
    ]


def test_the_flag_wins_and_stands_in_the_history_and_the_command(in_process: Command) -> None:
    assert [word for _, word, _ in words(in_process, "--fail-on", "advice")] == ["fail"] * 3
    judged = in_process("judge", ".harness/runs/kind/baseline/history.jsonl")
    assert judged.status == 1
    said = in_process(*RUN, "--only", "kind", "--fail-on", "advice").out
    assert "--fail-on advice" in said.partition("repeat: ")[2]
    assert f"\n  {CODE}  (advice)\n" in said


def test_what_does_not_fail_is_counted(in_process: Command) -> None:
    done = in_process(*RUN, "--only", "kind")
    assert done.status == 0
    assert f"✓ baseline  completed, {CODE}" in done.out
    assert "1 run: 1 passed; not failing: 1 advice; target" in done.out


def test_a_history_is_judged_alone_as_its_run_was(in_process: Command) -> None:
    in_process(*RUN)
    for variant, status in (("baseline", 0), ("strict", 1)):
        file = f".harness/runs/kind/{variant}/history.jsonl"
        assert in_process("judge", file).status == status
    assert in_process("judge", file, "--fail-on", "defect").status == 0


def test_a_profile_draws_it_where_the_scenario_does_not(in_process: Command, talks: Path) -> None:
    (talks / "all.yaml").write_text("fail-on: advice\n")
    found = [word for _, word, _ in words(in_process, "--profile", "all.yaml")]
    assert found == ["fail", "fail", "pass"]
    assert in_process("judge", ".harness/runs/kind/baseline/history.jsonl").status == 1


def test_the_configuration_draws_it_last(in_process: Command, talks: Path) -> None:
    (talks / "harness.toml").write_text('fail-on = "advice"\n')
    assert [word for _, word, _ in words(in_process)] == ["fail", "fail", "pass"]


def test_results_are_judged_again_for_another_line(in_process: Command) -> None:
    in_process(*RUN, "--only", "kind")
    again = ("judge", ".harness/runs", "--resume", "kept")
    statuses = [in_process(*again, *f).status for f in ((), ("--fail-on", "advice"), ())]
    assert statuses == [0, 1, 0]


def test_advice_is_shrunk_when_it_is_asked_for(in_process: Command) -> None:
    words = ("shrink", "scenarios/kind.yaml", "--only", "kind", *RUN[2:])
    done = in_process(*words)
    assert done.status == 2
    assert "no finding fails the run" in done.err
    for asked in (("--keep", CODE), ("--fail-on", "advice")):
        assert f"{CODE} is kept" in in_process(*words, *asked).out
