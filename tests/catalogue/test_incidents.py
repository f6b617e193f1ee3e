"""The list of public incidents, as scenarios, reports and `explain` use it."""

from __future__ import annotations

import re

import pytest

from harness.catalogue import INCIDENTS, INVARIANTS, incident
from harness.checks import names
from harness.checks.judge import rules_of
from harness.core.values.errors import InputError
from harness.core.values.verdict import BOOK_KEEPING
from harness.providers.anthropic import record as anthropic
from harness.providers.openai_chat import record as openai_chat
from harness.providers.openai_responses import record as openai_responses


def test_they_are_numbered_without_a_gap_and_stand_in_one_class() -> None:
    assert sorted(INCIDENTS) == list(range(1, 238))
    assert all(row.kind for row in INCIDENTS.values())


@pytest.mark.parametrize("number", INCIDENTS)
def test_a_row_says_where_what_and_which_check(number: int) -> None:
    row = INCIDENTS[number]
    assert re.match(r"[\w.-]+/[\w.-]+#\d+", row.where)
    assert row.symptom
    assert row.findings <= known_codes()


def known_codes() -> set[str]:
    """The checks, and their rules; those of `valid_request` are the providers'."""
    tables = (anthropic.TABLE.rules, openai_chat.TABLE.rules, openai_responses.TABLE.rules)
    refusals = {f"valid_request.{rule}" for rules in tables for rule in rules}
    return {*names(), *refusals, *(row.code for name in names() for row in rules_of(name))}


@pytest.mark.parametrize("invariant", INVARIANTS)
def test_a_row_of_an_invariant_is_used_and_has_a_reason(invariant: str) -> None:
    assert INVARIANTS[invariant].reason
    assert any(invariant in row.invariants for row in INCIDENTS.values())


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (67, "no_progress_stop.same_failure", True),
        (67, "target.crashed", False),
        (67, "run.unplayed_turn", False),
        (67, "valid_request.V4", False),
        (1, "tool_pairing.result", True),
        (1, "valid_request.V4", True),
        (1, "valid_request.V10", False),
    ],
)
def test_which_findings_show_an_incident(number: int, code: str, shown: bool) -> None:
    assert INCIDENTS[number].shows(code) is shown


def test_book_keeping_shows_no_incident() -> None:
    shown = {code for row in INCIDENTS.values() for code in row.findings}
    assert not {code.partition(".")[0] for code in shown} & BOOK_KEEPING


@pytest.mark.parametrize("source", ["incidents:0", "incidents:238", "incidents:x", "incidents:"])
def test_a_source_that_names_none(source: str) -> None:
    with pytest.raises(InputError, match="numbered 1 to 237"):
        incident(source)


def test_other_sources_are_left_alone() -> None:
    assert incident("seed:H2") is None
    found = incident("incidents:67")
    assert found is not None
    assert found.where == "NousResearch/hermes-agent#67829"
