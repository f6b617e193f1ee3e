"""A store that cannot be read for a moment, or not be opened."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan, Raise
from harness.faults.persistence.records import on

STAGE = "value"

SEAMS = ("store",)

ON = "store:read"

CODES = {"read_fails": ("P20",)}


def read_fails(moment: Moment, plan: Plan) -> Plan:
    """A read fails: EIO, "disk I/O error". Nothing is wrong with what is stored."""
    return (Raise("EIO"), *plan) if on(moment, access="read") else plan
