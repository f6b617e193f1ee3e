"""What is met of the faults of reading and writing, and of a kill in the middle of a write."""

from __future__ import annotations

from tests.faults.persistence.meets import BOTH, NOT_ACCEPTED, REST, Meets

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
"""The first write of the agent, or its first read, is hit; all later ones succeed."""

KILLED: dict[str, tuple[Meets, ...]] = {
    "killed_at_write": tuple(
        Meets(store, (), settings={"point": point})
        for store in BOTH
        for point in ("before", "inside", "after")
    ),
    "torn_write": (
        Meets("jsonl", ("note: session.jsonl: the torn last line (20 bytes) was left out",)),
        Meets("jsonl", (), settings={"at_byte": 0}),
    ),
    "power_cut": tuple(
        Meets(store, (), settings={"point": point})
        for store in BOTH
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
