"""An agent that reads OK for each success is found in nearly all runs in which it matters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.core.history.trace import Trace
from harness.core.scenario.scenario import Scenario
from harness.runner import run
from tests.mutants.blind import agent
from tests.scenarios.all_runs import all_runs

LEAST_SHARE = 0.95
FEW = 60
"""One of so many runs is in the fast tier; all of them take some minutes."""


def _reads_ok(trace: Trace) -> bool:
    """Whether a request holds OK in place of something else that a tool said."""
    return any(
        not done.failed
        and done.text.strip().upper() not in ("", "OK")
        and done.ask is not None
        and done.ask.sent is not None
        and done.ask.sent.text.startswith("OK")
        for done in trace.executions
    )


def _verdicts(scenarios: tuple[Scenario, ...]) -> Iterator[bool]:
    """Whether the check of results has a finding, for each run in which it matters."""
    for scenario in scenarios:
        played = run(scenario, agent)
        if _reads_ok(played.history.trace):
            yield any(f.code.startswith("result_carried.") for f in played.verdict.findings)


WHOLE = pytest.param(1, marks=[pytest.mark.real, pytest.mark.nightly])


@pytest.mark.parametrize("every", [FEW, WHOLE])
def test_an_agent_that_sees_no_result_is_found(every: int) -> None:
    found = [*_verdicts(tuple(all_runs())[::every])]
    assert len(found) > 900 / every
    assert sum(found) / len(found) >= LEAST_SHARE - (every > 1) * 0.15
