"""Rows that are stored in the wrong order, twice, or not at all."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.faults.persistence.records import Records, opened, rows

STAGE = "value"

SEAMS = ("store",)

ON = "store:open"

CODES = {
    "rows_out_of_order": ("P16",),
    "row_duplicated": ("P16",),
    "row_missing": ("P16",),
}


def rows_out_of_order(moment: Moment, plan: Plan) -> Plan:
    """The first two rows have changed their places."""
    return opened(moment, plan, _swapped)


def _swapped(found: Records) -> Records:
    if len(rows(found)) < 2:
        return found
    first, second = rows(found)[:2]
    swapped = list(found)
    swapped[first], swapped[second] = found[second], found[first]
    return tuple(swapped)


def row_duplicated(moment: Moment, plan: Plan) -> Plan:
    """The last row is stored twice."""
    return opened(moment, plan, _doubled)


def _doubled(found: Records) -> Records:
    last = rows(found)[-1:]
    return tuple(r for i, record in enumerate(found) for r in [record] * (1 + (i in last)))


def row_missing(moment: Moment, plan: Plan) -> Plan:
    """A row in the middle is missing."""
    return opened(moment, plan, _without)


def _without(found: Records) -> Records:
    places = rows(found)
    gone = places[len(places) // 2] if len(places) > 1 else -1
    return tuple(record for i, record in enumerate(found) if i != gone)
