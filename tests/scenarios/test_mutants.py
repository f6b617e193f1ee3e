"""Every mutant is killed by the finding made for it, which is the first that a report shows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from harness.runner import run
from tests import mutants
from tests.mutants import Mutant, WrongAgent
from tests.mutants.__main__ import is_killed
from tests.scenarios.all_runs import all_runs, named

EVERY = list(mutants.every())
IDS = [name for name, _, _ in EVERY]
TABLE = Path(mutants.__file__).with_name("first_findings.tsv")
ROWS = csv.DictReader(TABLE.read_text("utf-8").splitlines(), delimiter="\t")
OTHER_FIRST = {row["mutant"]: row["first"] for row in ROWS if row["reason"]}
"""The first findings that are not the one made for their mutant; each row has a reason."""


@pytest.mark.parametrize(("name", "mutant", "wrong"), EVERY, ids=IDS)
def test_mutant_is_killed_by_its_finding(name: str, mutant: Mutant, wrong: WrongAgent) -> None:
    verdict = run(named(mutant.scenario).failing_on("advice"), wrong.agent).verdict
    assert verdict.verdict == "fail"
    killers = [f for f in verdict.findings if is_killed(mutant, [f.code])]
    assert killers, [f.code for f in verdict.findings]
    assert killers[0].events, "a finding names the events that prove it"
    first = next((f for f in verdict.findings if f.class_ != "advice"), verdict.findings[0]).code
    assert is_killed(mutant, [first]) == (name not in OTHER_FIRST), first
    assert OTHER_FIRST.get(name, first) == first


def test_the_table_of_first_findings_names_mutants() -> None:
    assert set(IDS) >= OTHER_FIRST.keys()


def test_the_reference_agent_plays_the_scenario_of_each_mutant() -> None:
    """`test_reference` plays it, and asks for a pass."""
    assert {mutant.scenario for _, mutant, _ in EVERY} <= {s.run_name for s in all_runs()}


def test_the_defects_that_the_incidents_had_are_there() -> None:
    assert {
        "no_breaker",
        "breaker_counts_no_argument_tools",
        "compacts_twice",
        "positional_cursor",
        "positional_cursor_late",
    } <= set(IDS)


def test_the_late_cursor_loses_inbound_messages_while_roles_alternate() -> None:
    late = mutants.named("positional_cursor_late")
    codes = [
        f.code for f in run(named("replay-spiral/unanswered-tail"), late.agent).verdict.findings
    ]
    assert "reload_equivalence.lost_inbound" in codes
    assert "role_alternation.wire" not in codes
