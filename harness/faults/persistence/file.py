"""A file that was damaged before it is opened: torn, zeroed, emptied, older, or too large.

They strike when the store is opened, which it is once, and once more after each restart.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json, assistant, user
from harness.core.values.plans import Plan
from harness.core.values.strict import Count, FromOne
from harness.faults.persistence.records import Records, fact, message, opened, row

STAGE = "value"

SEAMS = ("store",)

ON = "store:open"

CODES = {
    "torn_tail": ("P4",),
    "nul_run": ("P5",),
    "garbage_line": ("P5",),
    "renamed_empty": ("P12",),
    "rename_lost": ("P12",),
    "stale_cursor": ("P13",),
    "older_version": ("P17",),
    "large_session": ("P19",),
}

GARBAGE = b'{"fact": "row", "sess\n'


def torn_tail(moment: Moment, plan: Plan, *, cut_bytes: FromOne = 10) -> Plan:
    """The last record lacks its last `cut_bytes` bytes, its line feed among them."""
    return opened(moment, plan, lambda found: _cut(found, cut_bytes))


def _cut(found: Records, cut_bytes: int) -> Records:
    if not found or cut_bytes >= len(found[-1]):
        return found
    return (*found[:-1], found[-1][:-cut_bytes])


def nul_run(moment: Moment, plan: Plan, *, after: Count = 1, size_bytes: FromOne = 512) -> Plan:
    """After `after` records comes a run of zeros, as a failure of the machine leaves one."""
    return _inserted(moment, plan, after, bytes(size_bytes) + b"\n")


def garbage_line(moment: Moment, plan: Plan, *, after: Count = 1) -> Plan:
    """After `after` records comes a line that is no JSON."""
    return _inserted(moment, plan, after, GARBAGE)


def _inserted(moment: Moment, plan: Plan, after: int, record: bytes) -> Plan:
    return opened(moment, plan, lambda found: (*found[:after], record, *found[after:]))


def renamed_empty(moment: Moment, plan: Plan) -> Plan:
    """The file was replaced by renaming, and not synced before: its name is there, its bytes are
    not."""
    return opened(moment, plan, lambda found: ())


def rename_lost(moment: Moment, plan: Plan, *, records: FromOne = 1) -> Plan:
    """The last renaming did not last: the file is the one before, `records` records behind."""
    return opened(moment, plan, lambda found: found[:-records])


def stale_cursor(moment: Moment, plan: Plan, *, records: FromOne = 1) -> Plan:
    """What was delivered is noted in an older copy: the last `records` deliveries are forgotten,
    the rows are not. Arm it on a later opening: `when: 2`, after a kill."""

    def older(found: Records) -> Records:
        noted = [i for i, record in enumerate(found) if fact(record).get("fact") == "delivered"]
        return tuple(b"\n" if i in noted[-records:] else r for i, r in enumerate(found))

    return opened(moment, plan, older)


def older_version(moment: Moment, plan: Plan) -> Plan:
    """The file is of an older version: rows are messages and nothing more, columns are missing."""

    def older(found: Records) -> Records:
        return tuple(_encoded(message(record)) for record in found if message(record))

    return opened(moment, plan, older)


def _encoded(value: dict[str, Json]) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def large_session(
    moment: Moment, plan: Plan, *, rows: FromOne = 10_000, size_bytes: FromOne = 5_000
) -> Plan:
    """The session is long: `rows` more rows of `size_bytes` bytes of text each."""
    question, answer = (row(moment, say("x" * size_bytes)) for say in (user, assistant))
    many = tuple(answer if n % 2 else question for n in range(rows))
    return opened(moment, plan, lambda found: (*many, *found))
