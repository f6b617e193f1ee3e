"""Campaigns find wrong agents without a scenario, soon, and make little of it."""

from __future__ import annotations

import os
import statistics

import pytest

from tests.campaign.mutant_table import EXAMPLES, Row, row, rows, summary


@pytest.mark.parametrize("name", ["delivers_twice", "forgets_past_turns"])
def test_a_plain_defect_is_found_at_once_and_is_one_turn_in_the_end(name: str) -> None:
    found = row(name, examples=48)
    assert 0 < found.examples <= 48
    assert (found.turns, found.faults) <= (1, 0)


def test_a_row_says_what_was_found_and_the_summary_how_many() -> None:
    table = [
        Row("a", 3, 1, 0, 0.5, "x.y"),
        Row("b", 9, 3, 1, 2.0, "x.z", own=True),
        Row("c", 0, 0, 0, 9.0, ""),
    ]
    assert "not found" in str(table[2])
    assert "3 t, 1 f" in str(table[1])
    assert [str(row).endswith("own") for row in table] == [False, True, False]
    said = "2 of 3 found, 1 by their own code; median 2 turns, 0.5 faults"
    assert summary(table) == said
    assert summary(table[2:]) == "0 of 1 found"


def test_of_two_findings_the_one_that_was_made_for_the_mutant_counts() -> None:
    found = row("delivers_twice", examples=16)
    assert (found.code.partition(".")[0], found.own) == ("outbound_once", True)


@pytest.mark.real
@pytest.mark.timeout(4 * 3600)
def test_at_least_eighty_mutants_are_found_and_half_of_them_in_three_turns_and_a_fault() -> None:
    table: list[Row] = []
    for found in rows((), EXAMPLES, workers=os.cpu_count() or 1):
        table.append(found)
        if sum(r.examples > 0 for r in table) >= 80:
            break
    small = [r for r in table if r.examples]
    assert len(small) >= 80, summary(table)
    assert all(r.examples <= EXAMPLES for r in small)
    assert statistics.median(r.turns for r in small) <= 3
    assert statistics.median(r.faults for r in small) <= 1
