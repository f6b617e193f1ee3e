"""Every scenario outside of the seeds' own is failed by a wrong agent, and the table says by which.

Who adds a scenario, or repairs a check, runs `python -m tests.scenarios.failing [NAME ...]`.
"""

from __future__ import annotations

import pytest

from tests.scenarios.all_runs import named
from tests.scenarios.failing import COUNTED, NO_PROOF, Pair, catalogue, findings, is_meant, table


def test_there_is_a_wrong_agent_for_every_scenario() -> None:
    assert table().keys() == catalogue().keys()


def test_each_pair_is_of_its_scenario_and_proves_something() -> None:
    for name, pair in table().items():
        assert named(pair.run).name == name
        assert not pair.finding.startswith(NO_PROOF), name


def test_each_pair_breaks_a_check_that_its_scenario_is_for() -> None:
    wrong = [name for name, p in table().items() if not is_meant(named(p.run), p.finding)]
    assert not wrong


def test_most_are_failed_by_an_invariant() -> None:
    counted = [name for name, pair in table().items() if pair.finding.startswith(COUNTED)]
    assert len(counted) <= len(table()) // 4


@pytest.mark.real
@pytest.mark.parametrize(("name", "pair"), table().items(), ids=list(table()))
def test_the_wrong_agent_fails(name: str, pair: Pair) -> None:
    assert pair.finding in findings(named(pair.run), pair.agent)
