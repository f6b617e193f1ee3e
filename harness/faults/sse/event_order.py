"""Events come twice, too early, or out of their order.

Where the SDK raises or loses text, the plan ends with a `Close`, because the turn did not arrive.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan, Send, Step
from harness.faults.shared import stream_events as stream

STAGE = "bytes"
SEAMS = ("model",)
WIRES = ("anthropic",)

_BLOCK = stream.of_kind("content_block_start", "content_block_delta", "content_block_stop")


def index_gap(moment: Moment, plan: Plan) -> Plan:
    """The blocks are numbered from one more than they should be, so the first index is missing."""
    bent = stream.mapped(plan, lambda step: _shifted(step) if _BLOCK(step) else step)
    return plan if bent is plan else stream.ended(bent)


def delta_before_its_block(moment: Moment, plan: Plan) -> Plan:
    """The first piece of a block comes before the block begins."""
    events = stream.opened(plan)
    start = stream.find(events, stream.of_kind("content_block_start"))
    delta = stream.find(events, stream.of_kind("content_block_delta"))
    if start is None or delta is None:
        return plan
    rest = (*events[start:delta], *events[delta + 1 :])
    return stream.ended((*events[:start], events[delta], *rest))


def late_message_start(moment: Moment, plan: Plan) -> Plan:
    """The message begins only after its first block, and what came before is lost."""
    events = stream.opened(plan)
    start = stream.find(events, stream.of_kind("message_start"))
    stop = stream.find(events, stream.of_kind("content_block_stop"))
    if start is None or stop is None:
        return plan
    first = events[start]
    begun = Send(first.data) if isinstance(first, Send) else first
    early = (stream.headed(_bare(events[start + 1]), first), *events[start + 2 : stop + 1])
    return stream.ended((*events[:start], *early, begun, *events[stop + 1 :]))


def interleaved_blocks(moment: Moment, plan: Plan) -> Plan:
    """All blocks begin at once, and their pieces come by turns; each names its index."""
    events = stream.opened(plan)
    blocks = [step for step in events if _BLOCK(step)]
    if len({stream.value(step).get("index") for step in blocks}) < 2:
        return plan
    place = stream.find(events, _BLOCK) or 0
    rest = tuple(step for step in events[place:] if not _BLOCK(step))
    return (*events[:place], *_by_turns(blocks), *rest)


def _by_turns(blocks: list[Step]) -> list[Step]:
    """First all begins, then the pieces, one of each block at a time, then all ends."""
    begins = [step for step in blocks if stream.kind(step) == "content_block_start"]
    ends = [step for step in blocks if stream.kind(step) == "content_block_stop"]
    seen: dict[object, int] = {}
    turns: list[tuple[int, Step]] = []
    for step in blocks:
        if stream.kind(step) == "content_block_delta":
            index = stream.value(step).get("index")
            seen[index] = seen.get(index, 0) + 1
            turns.append((seen[index], step))
    return [*begins, *(step for _, step in sorted(turns, key=lambda turn: turn[0])), *ends]


def _twice(moment: Moment, plan: Plan, *, event: str) -> Plan:
    """A template of presets: the event of this type comes twice."""
    return stream.spliced(plan, stream.of_kind(event), lambda step: (step, _bare(step)))


def _bare(step: Step) -> Send:
    return Send(step.data if isinstance(step, Send) else b"")


def _shifted(step: Step) -> Step:
    index = stream.value(step).get("index")
    return stream.changed(step, index=index + 1) if isinstance(index, int) else step
