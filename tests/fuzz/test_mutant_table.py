"""Campaigns find wrong agents without a scenario, soon, and make little of it."""

from __future__ import annotations

import os
import statistics

import pytest

from tests import mutants
from tests.fuzz.mutant_table import OUT_OF_REACH, Row, plans, row, rows, summary


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        ("delivers_twice", 1),
        pytest.param("forgets_past_turns", 2, marks=pytest.mark.real),  # one turn to be forgotten
    ],
)
def test_a_plain_defect_is_found_at_once_and_is_a_turn_or_two_in_the_end(
    name: str, turns: int
) -> None:
    found = row(name, examples=48)
    assert 0 < found.examples <= 48
    assert (found.turns, found.faults) <= (turns, 0)


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


def test_a_mutant_out_of_reach_is_told_with_its_reason_and_not_counted() -> None:
    assert set(OUT_OF_REACH) <= {name for name, _, _ in mutants.every()}
    (out,) = rows(["two_containers_at_once"], examples=16)
    assert str(out).endswith(f"out of reach: {OUT_OF_REACH[out.name]}")
    assert summary([out, Row("a", 3, 1, 0, 0.5, "x.y")]).startswith("1 of 1 found")


def test_a_mutant_is_played_with_the_client_and_on_the_wire_that_show_its_defect() -> None:
    def campaigns(scenario: str) -> list[tuple[str, str, int]]:
        mutant = mutants.Mutant("model", "", scenario, "")
        found = plans("no_breaker", mutant, 5_000, 1)
        return [(plan.target.partition("?")[2], plan.wire, count) for plan, count in found]

    assert campaigns("busy") == [("client=plain", "anthropic", 1_500), ("", "anthropic", 3_500)]
    assert campaigns("silence/for-ever+stream") == [("", "anthropic", 5_000)]
    assert campaigns("early@openai-chat+stream") == [("", "openai-chat", 5_000)]


SAMPLE = (
    "aborted_turn_is_replayed",
    "accepts_empty_summary",
    "answers_redelivery",
    "any_success_resets",
    "archive_chain_begins_anew",
    "archive_swaps_before_building",
    "as_stored_blank",
    "as_stored_orphan",
    "asks_again_in_history",
    "asks_for_ever_after_nothing",
    "no_breaker",
    "no_budget",
    "overflow_by_conversation",
    "stores_the_merge",
    "two_assistants_in_a_row",
)
"""Mutants of many parts; `make mutant-table` tries all of them."""


@pytest.mark.real
@pytest.mark.nightly
def test_mutants_of_many_parts_are_found_and_half_of_them_in_three_turns_and_a_fault() -> None:
    table = list(rows(SAMPLE, 400, workers=os.cpu_count() or 1))
    assert all(r.examples for r in table), "\n".join(map(str, table))
    assert statistics.median(r.turns for r in table) <= 3
    assert statistics.median(r.faults for r in table) <= 1
