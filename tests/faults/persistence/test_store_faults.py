"""Every fault on the store: it fires, on the real store, and the agent meets this."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from harness.core.history import encode
from harness.core.scenario import FaultSpec
from harness.faults import faults
from harness.runner import run
from tests.faults.persistence.told import Told, scenario, target, tell

ALL = "one, two, three, four, message 1, Looking., Done."
NOT_ACCEPTED = "one, two, three, four, Looking., Done."
ASKED = "one, two, three, four, Where is my order?"
REST = "message 1, Looking., Done."


class Meets(NamedTuple):
    """What the agent meets on a kind of store, and the rows that it reads in the end."""

    store: str
    met: tuple[str, ...]
    rows: str = ALL
    settings: Mapping[str, Any] = MappingProxyType({})
    waited_ms: int = 0


WRITES: dict[str, tuple[Meets, ...]] = {
    "disk_full": (
        Meets(
            "sqlite",
            ("accept: sqlite3.OperationalError SQLITE_FULL: database or disk is full",),
            NOT_ACCEPTED,
        ),
        Meets("jsonl", ("accept: OSError: [Errno 28] No space left on device",), NOT_ACCEPTED),
    ),
    "full_at_flush": (
        Meets("jsonl", ("accept: OSError: [Errno 28] No space left on device",), NOT_ACCEPTED),
    ),
    "partial_write": (
        Meets("jsonl", ("accept: OSError: [Errno 27] File too large",), NOT_ACCEPTED),
    ),
    "io_error": (
        Meets(
            "sqlite",
            ("accept: sqlite3.OperationalError SQLITE_IOERR_WRITE: disk I/O error",),
            NOT_ACCEPTED,
        ),
        Meets("jsonl", ("accept: OSError: [Errno 5] Input/output error",), NOT_ACCEPTED),
    ),
    "read_only": (
        Meets(
            "sqlite",
            (
                "accept: sqlite3.OperationalError SQLITE_READONLY: "
                "attempt to write a readonly database",
            ),
            NOT_ACCEPTED,
        ),
        Meets(
            "jsonl",
            ("accept: OSError: [Errno 30] Read-only file system: 'session.jsonl'",),
            NOT_ACCEPTED,
        ),
    ),
    "permission_denied": (
        Meets(
            "sqlite",
            ("accept: sqlite3.OperationalError SQLITE_CANTOPEN: unable to open database file",),
            NOT_ACCEPTED,
        ),
        Meets(
            "jsonl",
            ("accept: PermissionError: [Errno 13] Permission denied: 'session.jsonl'",),
            NOT_ACCEPTED,
        ),
    ),
    "folder_removed": (
        Meets(
            "jsonl",
            ("accept: FileNotFoundError: [Errno 2] No such file or directory: 'session.jsonl'",),
            NOT_ACCEPTED,
        ),
    ),
    "quota_exceeded": (
        Meets("jsonl", ("accept: OSError: [Errno 122] Disk quota exceeded",), NOT_ACCEPTED),
    ),
    "locked": (
        Meets(
            "sqlite",
            ("accept: sqlite3.OperationalError SQLITE_BUSY: database is locked",),
            NOT_ACCEPTED,
            waited_ms=5000,
        ),
        Meets(
            "sqlite",
            ("accept: sqlite3.OperationalError SQLITE_BUSY: database is locked",),
            NOT_ACCEPTED,
            {"wait_s": 0},
        ),
    ),
    "lock_released_in_time": (
        Meets("sqlite", (), waited_ms=2000),
        Meets("jsonl", (), settings={"wait_s": 3.5}, waited_ms=3500),
    ),
    "snapshot_conflict": (
        Meets(
            "sqlite",
            ("accept: sqlite3.OperationalError SQLITE_BUSY_SNAPSHOT: database is locked",),
            NOT_ACCEPTED,
        ),
    ),
    "second_writer": (
        Meets("sqlite", (), f"one, two, three, four, Mine: 2, {REST}", {"text": "Mine:"}),
        Meets("jsonl", (), f"one, two, three, four, From another process: 2, {REST}"),
    ),
    "second_agent": (
        Meets("sqlite", ()),
        Meets("jsonl", ("note: session.jsonl: line 6 was left out: m1 is there twice",)),
    ),
    "fsync_ignored": (Meets("sqlite", ()), Meets("jsonl", ())),
    "commit_forgotten": (Meets("sqlite", ()),),
    "read_fails": (
        Meets("sqlite", ("load: sqlite3.OperationalError: disk I/O error",)),
        Meets("jsonl", ("load: OSError: [Errno 5] Input/output error",)),
    ),
}
"""The first write of the agent, or its first read, is hit; whatever comes after it succeeds."""

_BOTH = ("sqlite", "jsonl")


def _both(rows: str, settings: dict[str, Any] | None = None) -> tuple[Meets, ...]:
    return tuple(Meets(store, (), rows, settings or {}) for store in _BOTH)


OPENED: dict[str, tuple[Meets, ...]] = {
    "torn_tail": (
        Meets(
            "sqlite",
            ("note: session.db: row 4 was left out: Input data was truncated",),
            f"one, two, three, {REST}",
        ),
        Meets(
            "jsonl",
            ("note: session.jsonl: the torn last line (94 bytes) was left out",),
            f"one, two, three, {REST}",
        ),
        Meets(
            "jsonl",
            ("note: session.jsonl: the torn last line (103 bytes) was left out",),
            f"one, two, three, {REST}",
            {"cut_bytes": 1},
        ),
    ),
    "nul_run": (
        Meets(
            "sqlite",
            (
                "note: session.db: row 2 was left out: "
                "JSON is malformed: invalid character (byte 0)",
            ),
        ),
        Meets("jsonl", ("note: session.jsonl: line 2: 512 NUL bytes were left out",)),
    ),
    "garbage_line": (
        Meets("sqlite", ("note: session.db: row 1 was left out: Input data was truncated",),
              settings={"after": 0}),
        Meets("jsonl", ("note: session.jsonl: line 2 was left out: Input data was truncated",)),
    ),
    "renamed_empty": _both(REST),
    "rename_lost": _both(f"one, two, {REST}", {"records": 2}),
    "older_version": (
        Meets("sqlite", ("note: session.db: an older file, inbounds got kind, delivered",)),
        Meets("jsonl", ()),
    ),
    "large_session": _both(
        f"xxx, xxx, xxx, one, two, three, four, {REST}", {"rows": 3, "size_bytes": 3}
    ),
    "rows_out_of_order": _both(f"two, one, three, four, {REST}"),
    "row_duplicated": _both(f"one, two, three, four, four, {REST}"),
    "row_missing": _both(f"one, two, four, {REST}"),
    "assistant_first": _both(f"It is on its way., one, two, three, four, {REST}"),
    "blank_message": _both(f"{ASKED}, It is on its way.,  \n, , {REST}"),
    "duplicate_call_ids": _both(
        f"{ASKED}, Looking., , Looking., , It is on its way., {REST}"
    ),
    "foreign_role": _both(f"{ASKED}, Obey., Obey., It is on its way., {REST}"),
    "half_stream": _both(f"{ASKED}, Let me lo, {REST}"),
    "orphan_result": _both(f"{ASKED}, , It is on its way., {REST}"),
    "trailing_assistant": _both(f"{ASKED}, It is on its way., And one more thing: \n, {REST}"),
    "unanswered_call": _both(f"{ASKED}, Looking., It is on its way., {REST}"),
}  # fmt: skip
"""The session was damaged before it is opened; rows without text hold calls and results."""

KILLED: dict[str, tuple[Meets, ...]] = {
    "killed_at_write": tuple(
        Meets(store, (), settings={"point": point})
        for store in _BOTH
        for point in ("before", "inside", "after")
    ),
    "torn_write": (
        Meets("jsonl", ("note: session.jsonl: the torn last line (20 bytes) was left out",)),
        Meets("jsonl", (), settings={"at_byte": 0}),
    ),
    "power_cut": tuple(
        Meets(store, (), settings={"point": point})
        for store in _BOTH
        for point in ("before", "inside", "after")
    ),
    "power_cut_reordered": (
        Meets(
            "jsonl",
            (
                "note: session.jsonl: line 5: 80 NUL bytes were left out",
                "note: session.jsonl: line 5 was left out: "
                "JSON is malformed: invalid character (byte 0)",
            ),
        ),
        Meets("jsonl", (), settings={"point": "after"}),
    ),
}
"""The process ends at the first write; it is started again, and the message comes again."""

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
    for store in _BOTH
    if store not in {meets.store for meets in all_meets}
]


@pytest.mark.parametrize(("kind", "store"), ONE_KIND)
def test_a_fault_of_one_kind_of_store_is_silent_on_the_other(kind: str, store: str) -> None:
    told = _told(kind, Meets(store, ()))
    assert told == Told((), (ALL,), (), (), 1, 0)


def test_every_fault_on_the_store_is_here() -> None:
    there = {
        fault.kind.removeprefix("persistence.")
        for fault in faults().values()
        if fault.kind.startswith("persistence.") and fault.seams == ("store",)
    }
    assert there - {"stale_cursor"} == WRITES.keys() | OPENED.keys() | KILLED.keys()
