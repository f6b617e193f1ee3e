"""What an example has reached: which kinds of events came about under which faults and checks.

A run covers (fault, check, event kind) when the fault had fired, the event came after it, and the
check was asked. A kind is what happened and how it came out, and how often in powers of two, so
that the tenth failure in a row is something new and the eleventh is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import singledispatch
from typing import TYPE_CHECKING, TypeAlias

from harness.core.history.events import Answered, AnyEvent, Called, Effected, Ended, Killed, Stored
from harness.core.values.calls import OutboxRequest

if TYPE_CHECKING:
    from harness.core.history.history import History
    from harness.core.values.verdict import Verdict

Pair: TypeAlias = tuple[str, str]
"""A fault, "" for none, and the kind of an event that came after it."""

_OFTEN = frozenset({2, 4, 8, 16, 32})


def pairs(history: History) -> tuple[Pair, ...]:
    """The pairs that a run has reached, each once, in the order of its events."""
    fired: dict[str, None] = {"": None}
    counted: Counter[str] = Counter()
    reached: dict[Pair, None] = {}
    for event in history.events:
        if isinstance(event, Answered) and event.faults:
            fired.update(dict.fromkeys(event.faults))
        for kind in _kinds(event):
            counted[kind] += 1
            times = counted[kind]
            names = (kind, f"{kind} x{times}") if times in _OFTEN else (kind,)
            for name in names:
                for fault in fired:
                    reached[fault, name] = None
    return tuple(reached)


def not_asked(verdict: Verdict) -> tuple[str, ...]:
    """The checks that a run could not be put to."""
    return tuple(row.check for row in verdict.not_applicable)


@singledispatch
def _kinds(event: AnyEvent) -> Iterator[str]:
    """What an event is, and how it came out; nothing for one that only keeps a value."""
    return iter(())


@_kinds.register
def _(event: Called) -> Iterator[str]:
    if isinstance(event.request, OutboxRequest):
        yield f"send {event.request.kind} {event.request.status}".rstrip()
    elif event.seam == "model":
        yield f"ask {event.purpose}{' again' if event.sdk_retry else ''}"
        yield from (f"refused {rule}" for rule in event.refused)
    else:
        yield f"call {event.seam}"


@_kinds.register
def _(event: Answered) -> Iterator[str]:
    failed = event.status is not None and event.status >= 400
    whole = "" if event.complete or failed else " cut"
    how = event.stop or event.error or (event.status and str(event.status)) or event.outcome
    yield f"{event.seam} answers {how}{whole}"


@_kinds.register
def _(event: Stored) -> Iterator[str]:
    changes = {"added": event.added, "changed": event.changed, "gone": event.gone}
    yield from (f"rows {change}" for change, rows in changes.items() if rows)


@_kinds.register
def _(event: Effected) -> Iterator[str]:
    yield "effect"


@_kinds.register
def _(event: Killed) -> Iterator[str]:
    yield "killed"


@_kinds.register
def _(event: Ended) -> Iterator[str]:
    yield f"ended {event.how}"
