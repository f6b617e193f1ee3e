"""Every public incident has a scenario, or a reason why it has none."""

from __future__ import annotations

from harness.catalogue import INCIDENTS
from tests.generated_coverage import NOT_COVERED, covering


def test_every_incident_is_covered_or_has_a_reason() -> None:
    covered = set(covering())
    assert covered | set(NOT_COVERED) == set(INCIDENTS)
    assert not covered & set(NOT_COVERED), "covered by now: take the reason out"
    assert all(len(why.split()) > 3 for why in NOT_COVERED.values())
