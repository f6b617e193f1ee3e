"""A scenario is asked on each wire, unless a table says why it cannot be."""

from __future__ import annotations

import csv
from pathlib import Path

import msgspec
import pytest

from harness import providers
from harness.core.history.events import Called
from harness.core.history.history import canonical
from harness.core.scenario.scenario import Scenario
from harness.runner import run
from tests import mutants
from tests.mutants.__main__ import is_killed
from tests.scenarios.all_runs import SCENARIOS, all_runs, named, reference_for, runs_of

WIRES = providers.names()
OTHERS = [wire for wire in WIRES if wire != "anthropic"]
HEADLINE = ("empty-inputs", "identical-failures", "prompt-too-long", "replay-spiral")

TABLE = Path(__file__).with_name("not_on_every_wire.tsv")


def reasons() -> dict[str, str]:
    """Why a scenario, by its file, is not on each wire."""
    with TABLE.open() as file:
        return {row["scenario"]: row["reason"] for row in csv.DictReader(file, delimiter="\t")}


def test_a_scenario_that_a_wire_lacks_has_a_reason() -> None:
    files = sorted(SCENARIOS.rglob("*.yaml"))
    partly = {
        f"{file.parent.name}/{file.stem}"
        for file in files
        if file.parent.name != "field"  # the report is of one program, which speaks one wire
        if {scenario.wire for scenario in runs_of(file)} < {*WIRES}
    }
    assert sorted(partly ^ reasons().keys()) == []
    assert all(len(reason) > 20 for reason in reasons().values())


@pytest.mark.parametrize(
    ("wire", "least"),
    [("anthropic", 200), ("openai-chat", 200), ("openai-responses", 200), ("gemini", 120)],
)
def test_most_scenarios_are_asked_on_a_wire(wire: str, least: int) -> None:
    assert len({scenario.name for scenario in all_runs() if scenario.wire == wire}) >= least


@pytest.mark.parametrize("wire", WIRES)
def test_it_is_this_wire_that_is_spoken(wire: str) -> None:
    scenario = _on(wire, "identical-failures")
    asked = [
        event
        for event in run(scenario, reference_for(scenario)).history.events
        if isinstance(event, Called) and event.seam == "model"
    ]
    assert {event.provider for event in asked} == {wire}
    assert {event.refused for event in asked} == {()}


@pytest.mark.real
@pytest.mark.parametrize("name", HEADLINE)
@pytest.mark.parametrize("wire", OTHERS)
def test_both_worlds_agree(wire: str, name: str) -> None:
    scenario = _on(wire, name)
    supervised = run(scenario, reference_for(scenario), world="supervise")
    simulated = run(scenario, reference_for(scenario))
    assert supervised.verdict.verdict == simulated.verdict.verdict == "pass"
    assert canonical(supervised.history) == canonical(simulated.history)


DEFECTS = (
    "no_breaker",
    "breaker_counts_no_argument_tools",
    "compacts_twice",
    "positional_cursor",
    "positional_cursor_late",
)
"""What the incidents had: the checks see it through each wire."""


@pytest.mark.real
@pytest.mark.parametrize("name", DEFECTS)
@pytest.mark.parametrize("wire", OTHERS)
def test_a_defect_is_found_by_its_own_finding(wire: str, name: str) -> None:
    wrong = mutants.named(name)
    there = msgspec.structs.replace(named(wrong.mutant.scenario), wire=wire, dialect="")
    verdict = run(there, wrong.agent).verdict
    assert [f.code for f in verdict.findings if is_killed(wrong.mutant, [f.code])]


def _on(wire: str, name: str) -> Scenario:
    return next(
        scenario
        for scenario in all_runs()
        if (scenario.name, scenario.wire, scenario.variant) == (name, wire, "")
    )
