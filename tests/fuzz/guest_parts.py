"""A plug-in as a user writes one: a fault and two checks, named `guest_parts.NAME`."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks import Finding, History
from harness.faults import Answer, FromOne, Moment, Plan, ToolAnswer

SEAMS = ("tool",)


def loud(moment: Moment, plan: Plan, *, word: str = "LOUD", times: FromOne = 2) -> Plan:
    """The tool answers a word, a number of times."""
    return (Answer(ToolAnswer(word * times)),)


def quiet(history: History) -> Iterator[Finding]:
    """No tool answers loudly."""
    for execution in history.trace.executions:
        if execution.answered is not None and "LOUD" in str(execution.answered.value):
            yield Finding("quiet.loud", "a tool answers loudly", (execution.answered.n,))


def once(history: History) -> Iterator[Finding]:
    """Each message has one reply that arrives."""
    replied: set[str] = set()
    for sending in history.trace.sendings:
        name = sending.request.in_reply_to
        if sending.ends_turn and name in replied:
            yield Finding("once.twice", f"{name} has two replies", (sending.n,))
        elif sending.ends_turn:
            replied.add(name)
