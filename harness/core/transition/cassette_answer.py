"""A recorded answer, replayed event by event, with its waits and its cut.

Faults count stream events, so each event is a separate send. Waits are played if the recording has
times and the replay asks for them. A broken answer always breaks off again.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate

import msgspec

from harness.core.transition.ports import Provider
from harness.core.values.plans import (
    Answer,
    ApiError,
    Close,
    Head,
    Plan,
    Recorded,
    Reply,
    Send,
    Step,
    Wait,
)

_EVENT_END = re.compile(rb"(?:\r?\n){2,}|\r{2,}")


def is_plain(value: Reply | ApiError | Recorded) -> bool:
    """Whether only the bytes of an answer must be played, without waits or a cut."""
    return not (isinstance(value, Recorded) and (value.pieces or value.cut))


def as_it_came(value: Reply | ApiError | Recorded, written: Plan) -> Plan:
    """The recorded steps for an answer that the wire has `written`; other answers are unchanged."""
    first = written[0] if written else None
    if not isinstance(value, Recorded) or not isinstance(first, Send) or first.head is None:
        return written
    steps = _steps(value)
    place = next(n for n, step in enumerate(steps) if isinstance(step, Send))
    sent = steps[place]
    assert isinstance(sent, Send)
    steps[place] = Send(sent.data, _head(value, first.head))
    return (*steps, *ending(value))


def _steps(value: Recorded) -> list[Step]:
    body, waits = value.body, _waits(value)
    ends = {len(body), *waits}
    if "event-stream" in value.headers.get("content-type", ""):
        ends.update(found.end() for found in _EVENT_END.finditer(body))
    places = sorted({0, *ends})
    steps: list[Step] = []
    for start, end in zip(places, [*places[1:], None], strict=True):
        if waits[start] or (start and start in waits):
            steps.append(Wait(waits[start]))
        if end is not None or not body:
            steps.append(Send(body[start:end]))
    return steps


def _waits(value: Recorded) -> Counter[int]:
    """Milliseconds of silence, by the byte offset that they precede."""
    sizes = [size_bytes for size_bytes, _ in value.pieces]
    waits: Counter[int] = Counter()
    for place, (_, wait_ms) in zip(accumulate(sizes, initial=0), value.pieces, strict=False):
        waits[place] += wait_ms
    return waits


def _head(value: Recorded, head: Head) -> Head:
    """The head of an answer; for an answer that breaks off, it announces more bytes than follow."""
    if value.cut != "broken":
        return head
    return msgspec.structs.replace(head, headers={**head.headers, "transfer-encoding": "chunked"})


def ending(value: object) -> tuple[Close, ...]:
    """The step with which a recorded answer breaks off; empty for a complete answer."""
    cut = value.cut if isinstance(value, Recorded) else ""
    return (Close(reset=cut == "reset"),) if cut else ()


def endings(plan: Plan) -> Plan:
    """The steps with which the recorded answers of a plan break off."""
    return tuple(end for s in plan if isinstance(s, Answer) for end in ending(s.value))


def parsed(wire: Provider, said: Recorded, plan: Plan) -> tuple[Reply | ApiError | None, bool]:
    """A recorded answer, read back from the bytes of its plan, and whether its end is missing."""
    sent = b"".join(s.data for s in plan if isinstance(s, Send))
    found = wire.parse(sent, said.headers.get("content-type", ""))
    if found.error is not None:
        return msgspec.structs.replace(found.error, status=said.status), False
    blocks = found.message.blocks if found.message else ()
    return Reply(blocks, found.stop, found.usage), not found.complete
