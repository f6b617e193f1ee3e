"""A refusal for size is known in each of its shapes, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from harness.agent import agent
from harness.core.scenario.scenario import Scenario
from harness.runner import run
from tests.scenarios.all_runs import all_runs

SHAPES = [s for s in all_runs() if s.name == "overflow-shapes"]
LOOKALIKES = [s for s in all_runs() if s.name == "overflow-lookalikes"]


@pytest.mark.parametrize("scenario", SHAPES, ids=lambda s: s.run_name)
def test_the_first_answer_is_a_refusal_for_size(scenario: Scenario) -> None:
    assert run(scenario, agent).history.trace.exchanges[0].too_large


@pytest.mark.parametrize("scenario", LOOKALIKES, ids=lambda s: s.run_name)
def test_a_lookalike_is_none(scenario: Scenario) -> None:
    assert not any(e.too_large for e in run(scenario, agent).history.trace.exchanges)
