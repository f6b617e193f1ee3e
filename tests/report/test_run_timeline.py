"""The timeline of a run: everything that happened, with findings where they begin."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import Verdict
from harness.report.run_timeline import timeline
from tests.report.fabricated import FINDING, RUNS, history


@pytest.mark.parametrize("width", [60, 120])
def test_timeline(width: int, snapshot: SnapshotAssertion) -> None:
    verdict = next(run.verdict for run in RUNS if run.word == "fail")
    assert timeline(history(), verdict, width) == snapshot


def test_a_finding_stands_below_its_first_event() -> None:
    shown = timeline(history(), Verdict("fail", findings=(FINDING,)), 120).splitlines()
    at = next(i for i, line in enumerate(shown) if FINDING.code in line)
    assert shown[at - 1].split()[0] == str(FINDING.events[0])
