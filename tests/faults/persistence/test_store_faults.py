"""Every fault on the store: it fires, on the real store, and the agent meets this."""

from __future__ import annotations

import pytest

from harness.core.history.history import encode
from harness.core.scenario.scenario import FaultSpec, SeedMessage, Session
from harness.faults import faults
from harness.runner import run
from tests.faults.persistence.meets import ALL, BOTH, Meets
from tests.faults.persistence.meets_opened import OPENED
from tests.faults.persistence.meets_writes import KILLED, WRITES
from tests.faults.persistence.told import Told, scenario, target, tell

CASES = [
    pytest.param(kind, meets, id=f"{kind}-{meets.store}-{n}")
    for table in (WRITES, OPENED, KILLED)
    for kind, all_meets in table.items()
    for n, meets in enumerate(all_meets)
]


def _told(kind: str, meets: Meets) -> Told:
    spec = FaultSpec(kind=f"persistence.{kind}", settings=dict(meets.settings))
    return tell(spec, store=meets.store)


@pytest.mark.parametrize(("kind", "meets"), CASES)
def test_a_fault_fires_and_this_is_met(kind: str, meets: Meets) -> None:
    told = _told(kind, meets)
    assert told.fired == (f"persistence.{kind}",)
    assert told.met == meets.met
    assert told.rows == (meets.rows,)
    assert told.waited_ms == meets.waited_ms
    killed = kind in KILLED
    assert (told.killed, told.starts) == ((("main/store#2",), 2) if killed else ((), 1))


@pytest.mark.parametrize("kind", [*WRITES, *OPENED])
def test_the_same_fault_is_the_same_history(kind: str) -> None:
    meets = ({**WRITES, **OPENED})[kind][0]
    spec = FaultSpec(kind=f"persistence.{kind}", settings=dict(meets.settings))
    first, second = (run(scenario(spec), target(meets.store)).history for _ in range(2))
    assert encode(first.events) == encode(second.events)


ONE_KIND = [
    (kind, store)
    for table in (WRITES, KILLED)
    for kind, all_meets in table.items()
    for store in BOTH
    if store not in {meets.store for meets in all_meets}
]


@pytest.mark.parametrize(("kind", "store"), ONE_KIND)
def test_a_fault_of_one_kind_of_store_is_silent_on_the_other(kind: str, store: str) -> None:
    told = _told(kind, Meets(store, ()))
    assert told == Told((), (ALL,), (), (), 1, 0)


OF_FILES = ("killed_at_own_write", "own_line_garbled")
"""Faults of files that no store of the harness is behind: tests/runner/test_own_files.py."""


def test_every_fault_on_the_store_is_here() -> None:
    there = {
        fault.kind.removeprefix("persistence.")
        for fault in faults().values()
        if fault.kind.startswith("persistence.") and fault.seams == ("store",)
    }
    assert there - {"stale_cursor", *OF_FILES} == WRITES.keys() | OPENED.keys() | KILLED.keys()


@pytest.mark.parametrize("store", BOTH)
def test_a_row_is_missing_from_the_middle_only_where_there_is_one(store: str) -> None:
    stored = Session(messages=(SeedMessage(role="user", content="one"),))
    told = tell(FaultSpec(kind="persistence.row_missing"), store=store, stored=stored)
    assert told.rows == ("one, message 1, Looking., Done.",)


def test_a_line_that_is_shorter_than_the_tear_stays_whole() -> None:
    spec = FaultSpec(kind="persistence.torn_write", settings={"at_byte": 10_000})
    assert tell(spec, store="jsonl") == Told((), (ALL,), (), (), 1, 0)
