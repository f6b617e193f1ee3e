"""Each moment that a defect needs comes in the catalogue, on each wire on which it can come."""

from __future__ import annotations

import pytest

from harness.agent import agent
from harness.core.scenario.scenario import InboxItem, Scenario, Turn
from harness.runner import run
from tests.scenarios.moments import Moment, counted, moments

MOMENTS = list(moments())
FEWEST = 3


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.name)
def test_a_moment_comes_in_three_runs_of_each_wire(moment: Moment) -> None:
    few = {wire: moment.runs[wire] for wire in moment.wires if moment.runs[wire] < FEWEST}
    assert few == {}, moment.words


def test_a_plain_run_holds_no_moment() -> None:
    plain = Scenario(
        name="plain", inbox=(InboxItem(text="Good day."),), script=(Turn(say="Hello."),)
    )
    trace = run(plain, agent).history.trace
    assert [moment.name for moment in MOMENTS if moment.is_in(trace)] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a" * 1_001, "long_message"),
        ("<a href='b'>\"&", "marked_message"),
        ("שלום", "right_to_left"),
        ("e\u0301", "combining"),
        ("👨\u200d👩", "emoji"),
    ],
)
def test_a_message_is_a_moment_by_its_text(text: str, name: str) -> None:
    scenario = Scenario(name="text", inbox=(InboxItem(text=text),), script=(Turn(say="Hello."),))
    trace = run(scenario, agent).history.trace
    assert [moment.name for moment in MOMENTS if moment.is_in(trace)] == [name]


@pytest.mark.real
@pytest.mark.nightly
def test_the_table_says_no_more_than_the_catalogue_holds() -> None:
    """A new scenario may bring more than the table says; without one that is gone, less comes."""
    played = counted()
    fewer = [
        (moment.name, wire, moment.runs[wire], played[moment.name][wire])
        for moment in MOMENTS
        for wire in moment.wires
        if played[moment.name][wire] < moment.runs[wire]
    ]
    assert fewer == [], "count again: python -m tests.scenarios.moments"
