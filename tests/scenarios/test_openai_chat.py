"""The reference agent passes the shipped scenarios over Chat Completions too.

Every scenario of the other wire is played on this one, in its default dialect. What is left out,
and why:

- faults that only another wire has, or that force a rule by another wire's number;
- scripted blocks that no answer of this wire can hold.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from harness.core.history.history import canonical
from harness.core.scenario.scenario import Scenario
from harness.faults import faults
from harness.runner import run
from tests import mutants
from tests.mutants.__main__ import is_killed
from tests.scenarios.all_runs import all_runs, is_of_the_seeds, named, on_wire, reference_for, tiers

WIRE = "openai-chat"

_BLOCKS = frozenset({"text", "thinking", "tool_use"})


def reason_against(scenario: Scenario) -> str:
    """Why a scenario says nothing on this wire, "" when it does."""
    for spec in scenario.faults:
        wires = faults()[spec.kind].wires
        if wires and WIRE not in wires:
            return f"the fault {spec.kind} is of {wires}"
        if "rule" in spec.settings:
            return "it forces a rule by its number"
    return "a block of another API" if any(_is_foreign(scenario)) else ""


def _is_foreign(scenario: Scenario) -> Iterator[bool]:
    for turn in scenario.script if isinstance(scenario.script, tuple) else ():
        for block in turn.blocks:
            yield block.get("type") not in _BLOCKS


def _here(scenario: Scenario) -> Scenario:
    return msgspec.structs.replace(scenario, wire=WIRE, dialect="")


OWN = [scenario for scenario in all_runs() if scenario.wire == WIRE]
THERE = [scenario for scenario in all_runs() if scenario.wire == "anthropic"]
RUNS = [scenario for scenario in on_wire(WIRE) if not reason_against(scenario)]
QUICK = [s for s in RUNS if not s.variant and is_of_the_seeds(s)]
HEADLINE = ("empty-inputs", "identical-failures", "prompt-too-long", "replay-spiral")


@pytest.mark.parametrize("scenario", tiers(RUNS, QUICK))
def test_reference_passes(scenario: Scenario) -> None:
    verdict = run(scenario, reference_for(scenario)).verdict
    assert [f"{f.code}: {f.message}" for f in verdict.findings] == []
    assert verdict.doubts == ()
    assert verdict.verdict == "pass"


@pytest.mark.parametrize(
    "scenario",
    [s for s in (*RUNS, *OWN) if s.name in HEADLINE and not s.variant],
    ids=lambda s: s.run_name,
)
def test_both_worlds_agree(scenario: Scenario) -> None:
    supervised, simulated = (
        run(scenario, reference_for(scenario), world="supervise"),
        run(scenario, reference_for(scenario)),
    )
    assert supervised.verdict.verdict == simulated.verdict.verdict == "pass"
    assert canonical(supervised.history) == canonical(simulated.history)


DEFECTS = (
    "no_breaker",
    "breaker_counts_no_argument_tools",
    "compacts_twice",
    "positional_cursor",
    "positional_cursor_late",
)
"""What the incidents had: the checks see it through this wire as well."""


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_by_its_own_finding(name: str) -> None:
    mutant, module = next((m, module) for n, m, module in mutants.every() if n == name)
    verdict = run(_here(named(mutant.scenario)), module.agent).verdict
    assert [f.code for f in verdict.findings if is_killed(mutant, [f.code])]


def test_most_scenarios_are_played() -> None:
    played = (*RUNS, *OWN)
    assert len(played) > 0.8 * len(THERE)
    assert {s.name for s in played} >= set(HEADLINE)
