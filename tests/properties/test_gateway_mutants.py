"""The property has teeth: wrong agents break it, and wrong gateways shrink to a few messages.

The seed is fixed, so that a search takes the same way every time. What is found must be small
enough to read: that is what the tables of the strategies are for.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from harness.core.history.history import History
from harness.core.scenario.scenario import Scenario
from harness.fuzz.script_grammar import LAST, SUMMARY
from harness.runner import run
from harness.strategies import scenarios
from tests import mutants
from tests.properties.oracle import objections

pytestmark = pytest.mark.real

MUTANTS = {name: (mutant, wrong) for name, mutant, wrong in mutants.every()}

GATEWAYS = (
    "answers_redelivery",
    "delivers_twice",
    "no_projection",
    "positional_cursor",
    "positional_cursor_late",
    "stores_late",
)
"""Those that the oracle must see too."""

LOOPS = (
    "breaker_counts_no_argument_tools",
    "claims_success",
    "compacts_twice",
    "no_empty_input_breaker",
    "runs_truncated_calls",
)
"""Those of another part, which generated scenarios reach as well."""

FAILURES = ("blind_resend",)
"""Those that go wrong only when the provider fails: every other 400 of a generated scenario says
that the prompt is too long. One generated scenario in thirteen has a failure: these need more."""


def _history(name: str, scenario: Scenario) -> History:
    return run(scenario, MUTANTS[name][1].agent).history


def _found(name: str, *phases: Phase) -> Scenario:
    """A scenario in which the mutant has the finding made for it; without the phase that explains
    a failure, for that plays the smallest scenario hundreds of times."""
    mutant, wrong = MUTANTS[name]

    def is_killed(scenario: Scenario) -> bool:
        found = run(scenario, wrong.agent).verdict.findings
        return any(f.code == mutant.killed_by or f.check == mutant.killed_by for f in found)

    search = settings(
        max_examples=1500 if name in FAILURES else 900,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=[HealthCheck.too_slow],
    )
    faults = ("http.status",) if name in FAILURES else ()
    drawn = scenarios(faults=faults, bursts=False, cancels=False, spirals=False)
    return find(drawn, is_killed, settings=search, random=random.Random(3))


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_wrong_gateway_is_found_and_shrinks(name: str) -> None:
    smallest = _found(name, Phase.generate, Phase.shrink)
    assert len(smallest.session.messages) <= 3
    assert len(smallest.inbox) <= 2
    assert smallest.script == (LAST, SUMMARY)
    assert objections(_history(name, smallest).events, len(smallest.session.messages))


@pytest.mark.parametrize("name", LOOPS + FAILURES)
def test_another_wrong_agent_is_found(name: str) -> None:
    assert _found(name, Phase.generate).inbox
