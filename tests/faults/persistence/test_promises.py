"""What a store promised and did not keep comes out with the end of the process or the machine."""

from __future__ import annotations

import pytest

from harness.core.scenario.scenario import FaultSpec
from tests.faults.persistence.told import Told, tell

NOT_ACCEPTED = "one, two, three, four, Looking., Done."


def _ended(promise: str, end: str, store: str, point: str = "before") -> Told:
    """A run whose writes are all hit by `promise`, and which ends at its third write."""
    return tell(
        FaultSpec(kind=f"persistence.{promise}", often="forever"),
        FaultSpec(kind=f"persistence.{end}", when=3, settings={"point": point}),
        store=store,
    )


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
@pytest.mark.parametrize(
    ("end", "rows"),
    [
        ("killed_at_write", "one, two, three, four, message 1, Looking., Looking., Done."),
        ("power_cut", "one, two, three, four, message 1, Looking., Done."),
    ],
)
def test_fsync_ignored_costs_what_was_not_synced_when_the_machine_fails(
    store: str, end: str, rows: str
) -> None:
    told = _ended("fsync_ignored", end, store)
    assert told.rows == (rows,)
    assert told.killed == ("main/store#4",)


def test_power_cut_reordered_leaves_the_end_of_what_was_not_synced_behind_zeros() -> None:
    told = _ended("fsync_ignored", "power_cut_reordered", "jsonl")
    assert any("NUL bytes were left out" in said for said in told.met)
    assert told.rows == ("one, two, three, four, Looking., message 1, Looking., Done.",)


def test_commit_forgotten_costs_every_row_when_the_process_ends() -> None:
    told = _ended("commit_forgotten", "killed_at_write", "sqlite")
    assert told.rows == ("one, two, three, four, message 1, Looking., Done.",)


def test_a_later_write_commits_what_was_forgotten() -> None:
    told = tell(
        FaultSpec(kind="persistence.commit_forgotten"),
        FaultSpec(kind="persistence.killed_at_write", when=3),
        store="sqlite",
    )
    assert told.rows == ("one, two, three, four, message 1, Looking., Looking., Done.",)


@pytest.mark.parametrize("store", ["sqlite", "jsonl"])
@pytest.mark.parametrize("end", ["killed_at_write", "power_cut"])
@pytest.mark.parametrize("point", ["before", "inside", "after"])
def test_what_was_kept_in_truth_outlives_both_ends(store: str, end: str, point: str) -> None:
    told = tell(
        FaultSpec(kind=f"persistence.{end}", when=2, settings={"point": point}), store=store
    )
    written = point == "after" or (store, end, point) == ("jsonl", "killed_at_write", "inside")
    again = ", Looking." if written else ""
    assert told.rows == (f"one, two, three, four, message 1{again}, Looking., Done.",)
