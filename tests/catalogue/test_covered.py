"""Each public incident is proved by a wrong agent with its defect, or the row says what lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.catalogue import INCIDENTS, PREFIX
from harness.checks.judge import checks
from harness.runner import run
from tests.catalogue.covered import Covered, covered, wrong_agent
from tests.generated_coverage import covering
from tests.scenarios.all_runs import named

ROOT = Path(__file__).parents[2]
PLAYED = [row for row in covered().values() if row.agent]
_REAL, _NIGHTLY = [pytest.mark.real], [pytest.mark.real, pytest.mark.nightly]
LED = ("mid-turn", "approval")
"""The kinds whose finding leads the report: its first line names the cause."""
TIERS = ([], _REAL, _REAL, _REAL, _NIGHTLY, _NIGHTLY)
"""The tier of each of six incidents: one is of the fast tier, two are played at night."""


def test_every_incident_has_a_row() -> None:
    assert set(covered()) == set(INCIDENTS)


def test_an_incident_without_a_scenario_is_covered_by_none() -> None:
    assert all(covered()[number].status == "none" for number in set(INCIDENTS) - set(covering()))


@pytest.mark.parametrize("row", covered().values(), ids=lambda row: str(row.incident))
def test_row_is_whole(row: Covered) -> None:
    played = (row.run, row.agent, row.code)
    assert all(played) or (row.status == "none" and not any(played))
    assert (row.status == "faithful") == (not row.reason)
    assert row.status == "faithful" or len(row.reason.split()) > 3


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row.incident}-{row.agent}", marks=TIERS[place % len(TIERS)])
        for place, row in enumerate(PLAYED)
    ],
)
def test_agent_with_the_defect_is_found(row: Covered) -> None:
    scenario = named(row.run)
    assert f"{PREFIX}{row.incident}" in scenario.source
    assert row.code.partition(".")[0] in checks(), "a finding of a check, not of the book-keeping"
    found = run(scenario, wrong_agent(row.agent)).verdict.findings
    assert row.code in {finding.code for finding in found}
    if INCIDENTS[row.incident].kind in LED:
        assert found[0].code == row.code, [finding.message for finding in found]


@pytest.mark.real
def test_readme_says_how_many_are_faithful() -> None:
    faithful = sum(row.status == "faithful" for row in covered().values())
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"{faithful} of {len(INCIDENTS)} public incidents" in readme
