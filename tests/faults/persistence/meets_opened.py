"""What is met of a session that was damaged before it is opened."""

from __future__ import annotations

from typing import Any

from tests.faults.persistence.meets import ASKED, BOTH, REST, Meets


def _both(rows: str, settings: dict[str, Any] | None = None) -> tuple[Meets, ...]:
    return tuple(Meets(store, (), rows, settings or {}) for store in BOTH)


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
