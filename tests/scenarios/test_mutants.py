"""Every mutant is killed by the finding made for it, and by the reference agent's own scenario."""

from __future__ import annotations

from types import ModuleType

import pytest

from harness.agent import agent as reference
from harness.runner import run
from tests import mutants
from tests.mutants import Mutant
from tests.mutants.__main__ import is_killed
from tests.scenarios.all_runs import named

EVERY = list(mutants.every())
IDS = [name for name, _, _ in EVERY]


@pytest.mark.parametrize(("name", "mutant", "module"), EVERY, ids=IDS)
def test_mutant_is_killed_by_its_finding(name: str, mutant: Mutant, module: ModuleType) -> None:
    verdict = run(named(mutant.scenario).failing_on("advice"), module.agent).verdict
    assert verdict.verdict == "fail"
    killers = [f for f in verdict.findings if is_killed(mutant, [f.code])]
    assert killers, [f.code for f in verdict.findings]
    assert killers[0].events, "a finding names the events that prove it"


@pytest.mark.real
@pytest.mark.parametrize(("name", "mutant", "module"), EVERY, ids=IDS)
def test_reference_survives_where_the_mutant_dies(
    name: str, mutant: Mutant, module: ModuleType
) -> None:
    assert run(named(mutant.scenario), reference).verdict.verdict == "pass"


def test_the_defects_that_the_incidents_had_are_there() -> None:
    assert {
        "no_breaker",
        "breaker_counts_no_argument_tools",
        "compacts_twice",
        "positional_cursor",
        "positional_cursor_late",
    } <= set(IDS)


def test_the_late_cursor_loses_inbound_messages_while_roles_alternate() -> None:
    late = next(module for name, _, module in EVERY if name == "positional_cursor_late")
    codes = [
        f.code for f in run(named("replay-spiral/unanswered-tail"), late.agent).verdict.findings
    ]
    assert "reload_equivalence.lost_inbound" in codes
    assert "role_alternation.wire" not in codes
