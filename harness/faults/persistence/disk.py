"""A disk that refuses a write: no room, no right, no file, no luck.

The errors are the store library's own: an OSError with its errno for a file of lines, what SQLite
makes of the same failure for a database.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan, Raise, Send
from harness.core.values.strict import Count
from harness.faults.persistence.records import on, records

STAGE = "bytes"

SEAMS = ("store",)

ON = "store:write"

CODES = {
    "disk_full": ("P9",),
    "full_at_flush": ("P9",),
    "partial_write": ("P9",),
    "io_error": ("P10",),
    "read_only": ("P10",),
    "permission_denied": ("P10",),
    "folder_removed": ("P10",),
    "quota_exceeded": ("P10",),
}


def disk_full(moment: Moment, plan: Plan) -> Plan:
    """There is no room for a byte of the write: ENOSPC, "database or disk is full"."""
    return _refused(moment, plan, "ENOSPC")


def full_at_flush(moment: Moment, plan: Plan) -> Plan:
    """The line is written, and the disk turns out to be full when it is synced: ENOSPC."""
    if not on(moment, access="write", store="jsonl"):
        return plan
    return (*map(Send, records(plan)), Raise("ENOSPC"))


def partial_write(moment: Moment, plan: Plan, *, at_byte: Count = 20) -> Plan:
    """`at_byte` bytes of a line are written, then the file may not grow: EFBIG. The agent goes on
    with a torn line in its file."""
    line = b"".join(records(plan))
    if not on(moment, access="write", store="jsonl") or at_byte >= len(line):
        return plan
    return (Send(line[:at_byte]), Raise("EFBIG"))


def io_error(moment: Moment, plan: Plan) -> Plan:
    """The device fails: EIO, "disk I/O error"."""
    return _refused(moment, plan, "EIO")


def read_only(moment: Moment, plan: Plan) -> Plan:
    """The file system has become read-only: EROFS, "attempt to write a readonly database"."""
    return _refused(moment, plan, "EROFS")


def permission_denied(moment: Moment, plan: Plan) -> Plan:
    """The file may not be opened any more: EACCES, "unable to open database file"."""
    return _refused(moment, plan, "EACCES")


def folder_removed(moment: Moment, plan: Plan) -> Plan:
    """The folder of the file is gone: ENOENT. SQLite writes on into a file that has no name."""
    return _refused(moment, plan, "ENOENT", store="jsonl")


def quota_exceeded(moment: Moment, plan: Plan) -> Plan:
    """The user's quota is used up: EDQUOT. SQLite says what it says of a failing device."""
    return _refused(moment, plan, "EDQUOT", store="jsonl")


def _refused(moment: Moment, plan: Plan, error: str, store: str = "") -> Plan:
    return (Raise(error), *plan) if on(moment, access="write", store=store) else plan
