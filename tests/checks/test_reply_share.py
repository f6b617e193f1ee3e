"""A standing mutant: an agent that cuts its replies dies wherever a longer reply follows."""

from __future__ import annotations

from random import Random

import pytest

from harness.core.history.history import History
from harness.runner import run
from tests.mutants.cuts_replies import agent
from tests.scenarios.all_runs import all_runs

LEAST = 0.95

CHARACTERS = 12
"""What the mutant leaves of a reply."""


def _is_asked(history: History) -> bool:
    """Whether the model ends a turn with a longer answer, of which the user reads a final."""
    return any(
        final.request.kind == "final"
        and turn.main
        and turn.main[-1].reply is not None
        and len(turn.main[-1].reply.text.strip()) > CHARACTERS
        for turn in history.trace.turns.values()
        for final in turn.endings
    )


def _share(runs: int) -> tuple[int, int]:
    """In how many of these runs a reply is asked for, and in how many of them the mutant dies."""
    asked = dead = 0
    for scenario in Random("cut replies").sample(all_runs(), min(runs, len(all_runs()))):
        made = run(scenario, agent)
        if _is_asked(made.history):
            asked += 1
            dead += any(f.code == "reply_carried.cut" for f in made.verdict.findings)
    return asked, dead


def test_an_agent_that_cuts_its_replies_dies_in_a_sample_of_the_catalogue() -> None:
    asked, dead = _share(60)
    assert asked > 30
    assert dead >= 0.9 * asked


@pytest.mark.real
@pytest.mark.nightly
def test_an_agent_that_cuts_its_replies_dies_in_the_whole_catalogue() -> None:
    asked, dead = _share(len(all_runs()))
    assert dead >= LEAST * asked, f"{dead} of {asked}"
