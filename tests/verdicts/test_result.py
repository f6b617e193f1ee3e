"""The command that repeats a run survives a shell; incidents stand where a finding shows them."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.naive_agent import agent as naive
from harness.core.values.brief import Brief
from harness.files import load_scenarios
from harness.runner import run
from harness.verdicts.result import Invocation, run_command, summarize

LOOP = Path(__file__).parents[2] / "scenarios" / "loops" / "identical-failures.yaml"


@given(path=st.text(min_size=1), target=st.text(min_size=1), name=st.text(min_size=1))
def test_a_shell_reads_the_same_words(path: str, target: str, name: str) -> None:
    asked = Invocation(path=path, target=target, world="simulate", store="jsonl:x y")
    assert shlex.split(run_command(asked, name, 3)) == [
        *("harness", "run", path, "--only", name, "--target", target),
        *("--seed", "3", "--world", "simulate", "--store", "jsonl:x y"),
    ]


def test_what_was_not_asked_for_is_not_said() -> None:
    command = run_command(Invocation(path="a.yaml", target="reference"), "a", 0)
    assert command == "harness run a.yaml --only a --target reference --seed 0"


def crashes_at_the_start(brief: Brief) -> None:
    """The user's own mistake, before the first message."""
    raise ImportError("no module of this name")


def crashes_in_the_loop(brief: Brief) -> None:
    """A loop with an end that is no better."""
    naive(brief)
    raise ValueError("the limit has ended the loop")


def forgets_the_message(brief: Brief) -> None:
    """It calls no model, so it did nothing twice."""
    brief.send("Done.")


@pytest.mark.parametrize(
    ("agent", "seen"),
    [
        (naive, True),
        (crashes_in_the_loop, True),
        (crashes_at_the_start, False),
        (forgets_the_message, False),
    ],
)
def test_an_incident_is_repeated_by_a_finding_of_it(
    agent: Callable[[Brief], object], seen: bool
) -> None:
    made = run(load_scenarios(LOOP)[0], agent)
    assert made.verdict.verdict == "fail"
    said = [text.partition(":")[0] for text in summarize(made, None).seen]
    assert ("NousResearch/hermes-agent#67829" in said) is seen
    assert bool(said) is seen


def test_a_finding_of_another_kind_repeats_no_incident() -> None:
    """The scenario is made after a loop; an agent that stops at the first failure is no such."""
    (variant,) = (s for s in load_scenarios(LOOP) if s.run_name.endswith("succeeds-at-the-third"))
    made = run(variant, forgets_after_one_call)
    assert made.verdict.failing
    assert summarize(made, None).seen == ()


def forgets_after_one_call(brief: Brief) -> None:
    """It asks the model once, and tells the user nothing of the answer."""
    for inbound in brief.inbox():
        brief.anthropic().messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": inbound.text}]
        )
