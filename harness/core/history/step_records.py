"""What the history keeps of a plan: its steps, without the bytes and values that they carried.

Steps that hold neither are kept as they are. Sends in a row become one record with their count and
size. A plan of very many steps, as of a body that comes byte by byte, is kept as its sums. Reports
print a record with `words`; checks read its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec

from harness.core.values.plans import (
    DATA,
    Answer,
    Close,
    Effect,
    Jump,
    Kill,
    Plan,
    Raise,
    Send,
    Step,
    Wait,
    only_sends,
)

RECORDS_MOST = 40
"""How many records tell of a plan."""

_MESSAGE_MOST = 500
"""How many characters tell what a tool raised; what it raised is its result, and may be long."""


class Sent(msgspec.Struct, frozen=True, gc=False, tag="send"):
    """Sends without anything between them: how many, and their size."""

    count: int
    size_bytes: int


class Returned(msgspec.Struct, frozen=True, gc=False, tag="answer"):
    """A value that needed no bytes; the event has it in a field of its own."""


StepRecord: TypeAlias = Sent | Returned | Wait | Close | Raise | Effect | Jump | Kill


def record_steps(plan: Plan) -> tuple[StepRecord, ...]:
    """The plan as the history keeps it."""
    if plan and only_sends(plan):
        return (record_sends(plan),)
    records: list[StepRecord] = []
    for kind, run in groupby(plan, type):
        if kind is Send:
            records.append(record_sends([step for step in run if isinstance(step, Send)]))
        else:
            records.extend(map(_record, run))
    return tuple(records) if len(records) <= RECORDS_MOST else tuple(_sums(plan))


def record_sends(sends: Sequence[Send]) -> Sent:
    """Sends without anything between them."""
    return Sent(len(sends), sum(map(len, map(DATA, sends))))


def _sums(plan: Plan) -> Iterator[StepRecord]:
    """All waits as one, all sends as one, and the other steps in their order."""
    if wait_ms := sum(step.ms for step in plan if isinstance(step, Wait)):
        yield Wait(wait_ms)
    if sends := [step for step in plan if isinstance(step, Send)]:
        yield record_sends(sends)
    yield from (_record(step) for step in plan if not isinstance(step, (Wait, Send)))


def _record(step: Step) -> StepRecord:
    match step:
        case Raise("tool", message):
            return Raise("tool", message[:_MESSAGE_MOST])
        case Raise(error):
            return Raise(error)
        case Effect(name):
            return Effect(name)
        case Answer() | Send():
            return Returned()
        case _:
            return step


def waited_ms(records: Iterable[StepRecord]) -> int:
    """How long the steps wait together."""
    return sum(record.ms for record in records if isinstance(record, Wait))


def words(record: StepRecord) -> str:
    """A record as reports print it."""
    match record:
        case Sent(count, size_bytes):
            return f"send {count} ({size_bytes} bytes)"
        case Wait(ms):
            return f"wait {ms} ms"
        case Close(reset):
            return "reset" if reset else "close"
        case Raise(error, message):
            return f"raise {error}: {message}" if message else f"raise {error}"
        case Effect(name):
            return f"effect {name}"
        case Jump(wall_ms, monotonic_ms):
            return f"jump {wall_ms} ms" + (f", {monotonic_ms} ms monotonic" if monotonic_ms else "")
        case Kill(unsynced):
            return "kill" if unsynced == "kept" else f"kill, unsynced {unsynced}"
        case _:
            return "answer"
