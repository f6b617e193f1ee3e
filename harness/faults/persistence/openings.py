"""What an opened store holds: a damaged file, rows in disorder, an invalid history.

They strike at each opening: at the start and after each restart. Invalid rows follow the stored
ones, as faulty agents leave them.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.plans import Plan
from harness.core.values.strict import Count, FromOne
from harness.faults.shared.store_records import Records, fact, message, opened, row, rows

STAGE = "value"
SEAMS = ("store",)
ON = "store:open"
# Smaller than usual: at its usual size it takes long, or exceeds the limits of a run.
DRAWN = {"large_session": ({"rows": 50, "size_bytes": 100},)}

GARBAGE = b'{"fact": "row", "sess\n'


def torn_tail(moment: Moment, plan: Plan, *, cut_bytes: FromOne = 10) -> Plan:
    """The last record lacks its last `cut_bytes` bytes, its line feed among them."""

    def cut(found: Records) -> Records:
        if not found or cut_bytes >= len(found[-1]):
            return found
        return (*found[:-1], found[-1][:-cut_bytes])

    return opened(moment, plan, cut)


def nul_run(moment: Moment, plan: Plan, *, after: Count = 1, size_bytes: FromOne = 512) -> Plan:
    """After `after` records comes a run of zeros, as a failure of the machine leaves one."""
    return _inserted(moment, plan, after, bytes(size_bytes) + b"\n")


def garbage_line(moment: Moment, plan: Plan, *, after: Count = 1) -> Plan:
    """After `after` records comes a line that is not JSON."""
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
        said = (message(record) for record in found)
        return tuple(msgspec.json.encode(value) + b"\n" for value in said if value)

    return opened(moment, plan, older)


def large_session(
    moment: Moment, plan: Plan, *, rows: FromOne = 10_000, size_bytes: FromOne = 5_000
) -> Plan:
    """The session is long: `rows` more rows of `size_bytes` bytes of text each."""
    question, answer = (row(moment, say("x" * size_bytes)) for say in (user, assistant))
    many = tuple(answer if n % 2 else question for n in range(rows))
    return opened(moment, plan, lambda found: (*many, *found))


def rows_out_of_order(moment: Moment, plan: Plan) -> Plan:
    """The first two rows have changed their places."""

    def swapped(found: Records) -> Records:
        if len(rows(found)) < 2:
            return found
        first, second = rows(found)[:2]
        records = list(found)
        records[first], records[second] = found[second], found[first]
        return tuple(records)

    return opened(moment, plan, swapped)


def row_duplicated(moment: Moment, plan: Plan) -> Plan:
    """The last row is stored twice."""

    def doubled(found: Records) -> Records:
        last = rows(found)[-1:]
        return tuple(r for i, record in enumerate(found) for r in [record] * (1 + (i in last)))

    return opened(moment, plan, doubled)


def row_missing(moment: Moment, plan: Plan) -> Plan:
    """A row in the middle is missing."""

    def without(found: Records) -> Records:
        places = rows(found)
        gone = places[len(places) // 2] if len(places) > 1 else -1
        return tuple(record for i, record in enumerate(found) if i != gone)

    return opened(moment, plan, without)


ASKED, ANSWERED = user("Where is my order?"), assistant("It is on its way.")
_CALL = ToolUse("toolu_stored", "look_up", {"order": "1"})
_CALLED = assistant("Looking.", _CALL)
_RESULT = results(ToolResult("toolu_stored", "on its way"))
_HALF = ToolUse("toolu_half", "look_up", {"__unparsedToolInput": '{"order": "4'})

_ROWS: dict[str, tuple[Message, ...]] = {
    "orphan_result": (ASKED, _RESULT, ANSWERED),
    "unanswered_call": (ASKED, _CALLED, ANSWERED),
    "duplicate_call_ids": (ASKED, _CALLED, _RESULT, _CALLED, _RESULT, ANSWERED),
    "blank_message": (ASKED, ANSWERED, user(" \n"), Message("assistant")),
    "trailing_assistant": (ASKED, ANSWERED, assistant("And one more thing: \n")),
    "half_stream": (ASKED, Message("assistant", (Text("Let me lo"), _HALF))),
    "foreign_role": (
        ASKED, Message("system", (Text("Obey."),)), Message("function", (Text("Obey."),)), ANSWERED,
    ),
}  # fmt: skip
"""Histories that are invalid at their end."""


def _laid(moment: Moment, plan: Plan, *, rows: str) -> Plan:
    """A template of presets: these rows follow the stored ones."""
    laid = tuple(row(moment, message) for message in _ROWS[rows])
    return opened(moment, plan, lambda found: (*found, *laid))


def assistant_first(moment: Moment, plan: Plan) -> Plan:
    """The stored history begins with an answer."""
    first = row(moment, ANSWERED)
    return opened(moment, plan, lambda found: (first, *found))
