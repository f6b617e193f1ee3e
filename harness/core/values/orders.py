"""Orders of events: who goes first where several things of a run could go on at one moment.

An order is sparse, as a person says it: first come, first served, except at the third point. So few
of them describe a schedule, and a schedule shrinks by leaving some out.
"""

from __future__ import annotations

import msgspec

from harness.core.values.strict import FromOne, Strict


class Order(Strict, frozen=True, kw_only=True):
    """At point of choice `at` of a life, the one at place `first` in the line goes first."""

    at: FromOne
    first: FromOne


class ChoicePoint(msgspec.Struct, frozen=True):
    """A moment in which several things could go on: what waited, in line, and which place went."""

    waiting: tuple[str, ...]
    went: int = 1
