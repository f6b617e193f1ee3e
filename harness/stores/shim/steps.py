"""A plan of the store seam, put in the order in which a store can carry it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from harness.core.values.plans import Answer, Kept, Kill, Plan, Raise, Send, Step

CarryOut = Callable[[Step], None]
"""Carries out a step that says nothing to the agent: wait, jump, kill."""


class Steps(NamedTuple):
    """`before` a byte is written; what is `sent`; `inside`, when it is written and does not count
    yet; how it is `kept`, None when it never counts; and `after`, when nobody knows it yet."""

    before: tuple[Step, ...] = ()
    sent: tuple[bytes, ...] = ()
    inside: tuple[Step, ...] = ()
    kept: Kept | None = Kept()
    after: tuple[Step, ...] = ()

    @property
    def raised(self) -> str:
        """The name of the error with which the store fails; "" when it does not."""
        return next((s.error for s in (*self.before, *self.inside) if isinstance(s, Raise)), "")


class Own(NamedTuple):
    """What a store wants to write: its records, what is to be called once all of it is said and
    nothing of it counts, and the call that writes it."""

    records: Sequence[bytes]
    commit: Callable[[], None]
    call: Callable[[], Any]


def ordered(plan: Plan) -> Steps:
    """The steps of a plan."""
    before: list[Step] = []
    inside: list[Step] = []
    after: list[Step] = []
    sent: list[bytes] = []
    kept: Kept | None = None
    for step in plan:
        if isinstance(step, Answer) and isinstance(step.value, Kept):
            kept = step.value
        elif isinstance(step, Send):
            sent.append(step.data)
        else:
            (after if kept else inside if sent else before).append(step)
    return Steps(tuple(before), tuple(sent), tuple(inside), kept, tuple(after))


def lost_with(step: Step) -> str:
    """What a step does to unsynced writes, when it is the end of the machine; else ""."""
    return step.unsynced if isinstance(step, Kill) and step.unsynced != "kept" else ""
