"""The list of public incidents, as scenarios, reports and `explain` use it."""

from __future__ import annotations

import re

import pytest

from harness.catalogue import CLASSES, INCIDENTS, incident
from harness.checks.judge import names
from harness.core.values.errors import InputError

ALIASES = {
    "reload_valid": "reload_equivalence",
    "compaction_fits": "compaction_preserves",
    "error_shape": "truthful_outcome",
    "error_origin": "truthful_outcome",
    "delta_assembly": "args_complete",
    "empty_args_ok": "args_complete",
    "effect_recorded": "effect_once",
    "torn_tail_ok": "reload_equivalence",
    "store_error_handled": "no_silent_loss",
    "tool_bounded": "bounded_wait",
    "fail_fast": "bounded_wait",
    "progress_visible": "bounded_wait",
    "cancel_clean": "cancel_honoured",
    "cancel_scope": "cancel_honoured",
    "resume_no_reexec": "resume_bounded",
    "turn_completes": "bounded_turn",
    "empty_turn_handled": "truthful_outcome",
    "chunking_neutral": "stream_error_handled",
    "deliver_implies_durable": "durable_first",
    "inbound_no_loss": "inbound_exactly_once",
}
"""Names of the list that are parts of a check."""


def test_they_are_numbered_without_a_gap_and_stand_in_one_class() -> None:
    assert sorted(INCIDENTS) == list(range(1, 188))
    assert sum(len(rows) for rows in CLASSES.values()) == len(INCIDENTS)


@pytest.mark.parametrize("number", INCIDENTS)
def test_a_row_says_where_what_and_which_check(number: int) -> None:
    row = INCIDENTS[number]
    assert re.match(r"[\w.-]+/[\w.-]+#\d+", row.where)
    assert row.symptom
    assert {ALIASES.get(name, name) for name in row.invariants} <= set(names())


@pytest.mark.parametrize("source", ["incidents:0", "incidents:188", "incidents:x", "incidents:"])
def test_a_source_that_names_none(source: str) -> None:
    with pytest.raises(InputError, match="numbered 1 to 187"):
        incident(source)


def test_other_sources_are_left_alone() -> None:
    assert incident("seed:H2") is None
    found = incident("incidents:67")
    assert found is not None
    assert found.where == "NousResearch/hermes-agent#67829"
