"""Very many events that say nothing, or next to nothing.

Every one resets a read time-out, so only a watchdog that counts what was said sees such a stall;
and a client that keeps each of them has a leak.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Plan, Send, Step
from harness.faults.sse.events import (
    changed,
    choice_of,
    delta,
    event,
    headed,
    opened,
    value,
)

STAGE = "bytes"

SEAMS = ("model",)

CODES = {"ping_flood": ("S12",), "comment_flood": ("S12",), "tiny_deltas": ("S12",)}

WIRES = {"ping_flood": ("anthropic",)}

Many = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
"""How many events; no run needs more."""


def ping_flood(moment: Moment, plan: Plan, *, pings: Many = 10_000) -> Plan:
    """Behind the first event come `pings` pings; escalating, twice as many each time."""
    return _behind_the_first(plan, event({"type": "ping"}), pings * min(moment.harder, 64))


def comment_flood(moment: Moment, plan: Plan, *, comments: Many = 10_000) -> Plan:
    """Behind the first event come `comments` comment lines, as gateways send to keep alive."""
    return _behind_the_first(plan, Send(b": keep-alive\n\n"), comments * min(moment.harder, 64))


def tiny_deltas(moment: Moment, plan: Plan) -> Plan:
    """Every piece of text and of a tool's input comes as one event for each character."""
    events = opened(plan)
    steps = tuple(small for step in events for small in _small(step))
    return plan if steps == events else steps


def _behind_the_first(plan: Plan, filler: Send, count: int) -> Plan:
    """The stream with one more send behind its first, which holds all the fillers."""
    events = opened(plan)
    place = next((n for n, step in enumerate(events) if isinstance(step, Send)), None)
    if place is None:
        return plan
    return (*events[: place + 1], Send(filler.data * count), *events[place + 1 :])


def _small(step: Step) -> Iterator[Step]:
    said = value(step)
    match said:
        case {"type": "content_block_delta", "delta": {"type": str(kind), **rest}}:
            name, text = next(iter(rest.items()), ("", ""))
            if isinstance(text, str) and len(text) > 1 and kind != "signature_delta":
                for letter in text:
                    yield changed(step, delta={"type": kind, name: letter})
                return
        case {"type": str(kind), "delta": str(text)} if len(text) > 1 and "delta" in kind:
            for letter in text:
                yield changed(step, delta=letter)
            return
    yield from _small_chunk(step)


def _small_chunk(step: Step) -> Iterator[Step]:
    text = delta(step).get("content")
    if not isinstance(text, str) or len(text) < 2:
        yield step
        return
    for place, letter in enumerate(text):
        said: dict[str, Json] = {"content": letter} if place else {**delta(step), "content": letter}
        chunk = changed(step, choices=[{**choice_of(value(step)), "delta": said}])
        yield chunk if place else headed(chunk, step)
