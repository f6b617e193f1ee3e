"""`why`: what it takes, what it says, what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.verdicts.diagnosis import LINKS_MAX
from tests.cli.talks import OSLO, REFERENCE, UNGUARDED, Command

LOOP = ("why", "scenarios/loop.yaml", "--target", UNGUARDED)


def test_the_answer_that_decided_it_and_the_proof(in_process: Command, talks: Path) -> None:
    pictures = ("--svg", "out/why.svg", "--mermaid", "out/why.mmd")
    done = in_process(*LOOP, "--of", "no_progress_stop", *pictures)
    assert done.status == 0
    first, *_ = done.out.splitlines()
    assert first == "no_progress_stop.same_failure in loop"
    assert "likely since #" in done.out
    assert "decided here" in done.out
    assert "the other fact" in done.out
    assert "both cannot be: " in done.out
    assert ElementTree.parse(talks / "out/why.svg").getroot().tag.endswith("svg")
    assert (talks / "out/why.mmd").read_text("utf-8").startswith("flowchart TD\n")


def test_json_is_one_line(in_process: Command, talks: Path) -> None:
    done = in_process(*LOOP, "--of", "no_progress_stop", "--json", "--futures", "4")
    (row,) = map(json.loads, done.out.splitlines())
    assert (row["run"], row["target"]) == ("loop", UNGUARDED)
    assert row["finding"]["code"] == "no_progress_stop.same_failure"
    assert row["after"]["of"] <= 4
    assert 2 * row["after"]["shown"] > row["after"]["of"]
    assert 2 * row["before"]["shown"] <= row["before"]["of"]
    assert len(row["links"]) <= LINKS_MAX
    assert row["links"][-1]["role"] == "proof"
    assert row["played"] >= row["start"]["of"] + row["end"]["of"]


def test_a_crash_is_explained_too(in_process: Command, talks: Path) -> None:
    done = in_process("why", "scenarios/chat.yaml", "--target", OSLO, "--only", "chat")
    assert done.status == 0
    assert done.out.startswith("target.crashed in chat\n")


def test_a_kept_run_is_played_again(in_process: Command, talks: Path) -> None:
    in_process("run", "scenarios/loop.yaml", "--target", UNGUARDED)
    done = in_process("why", ".harness/runs/loop/baseline", "--target", UNGUARDED, "--futures", "2")
    assert done.status == 0
    assert " in loop\n" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("why", "scenarios/loop.yaml", "--target", REFERENCE), "no finding"),
        ((*LOOP, "--of", "no_such_check"), "there is no check 'no_such_check'"),
        ((*LOOP, "--of", "approval"), "no finding 'approval', but "),
        ((*LOOP, "--futures", "1"), "1 is not in the range"),
        (("why", "scenarios/none.yaml", "--target", UNGUARDED), "no such file"),
    ],
)
def test_what_cannot_be_explained_is_refused(
    in_process: Command, talks: Path, words: tuple[str, ...], said: str
) -> None:
    done = in_process(*words)
    assert done.status == 2
    assert said in done.err
