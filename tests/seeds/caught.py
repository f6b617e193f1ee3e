"""A mutant and the reference agent on the mutant's own scenario."""

from __future__ import annotations

from harness.agent import agent as reference
from harness.runner import Run, run
from tests import mutants
from tests.mutants.__main__ import is_killed
from tests.scenarios.all_runs import named


def caught(name: str) -> Run:
    """The mutant's run: the finding made for it is there, and the reference agent has none."""
    wrong = mutants.named(name)
    scenario = named(wrong.mutant.scenario)
    assert run(scenario, reference).verdict.verdict == "pass"
    played = run(scenario, wrong.agent)
    codes = [finding.code for finding in played.verdict.findings]
    assert is_killed(wrong.mutant, codes), codes
    return played


def stored_sides(played: Run) -> str:
    """The roles of the rows that a run has stored, those of the past as well, a letter each."""
    trace = played.history.trace
    rows = [row for event in trace.stored for row in event.added]
    return "".join(trace.messages[row.digest].role[0] for row in rows)
