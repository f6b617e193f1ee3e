"""Events come twice, too early, or out of their order.

Where the SDK raises or loses text, the plan ends with a `Close`, because the turn did not arrive.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Plan, Send, Step
from harness.faults.shared import stream_events as stream

STAGE = "bytes"
SEAMS = ("model",)
_OF_BLOCKS = ("index_gap", "delta_before_its_block", "late_message_start")
WIRES = {
    **dict.fromkeys(_OF_BLOCKS, ("anthropic",)),
    "interleaved_blocks": ("anthropic", "openai-responses"),
}

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
    places = [place for place, step in enumerate(events) if _index(step) is not None]
    if len({_index(events[place]) for place in places}) < 2:
        return plan
    bent = list(events)
    for place, step in zip(places, _by_turns([events[place] for place in places]), strict=True):
        number = stream.value(events[place]).get("sequence_number")
        bent[place] = step if number is None else stream.changed(step, sequence_number=number)
    return tuple(bent)


def _index(step: Step) -> Json:
    """The number of the block that an event belongs to, or of the item in Responses."""
    said = stream.value(step)
    return said.get("index") if _BLOCK(step) else said.get("output_index")


def _by_turns(blocks: list[Step]) -> list[Step]:
    """First all begins, then the pieces, one of each block at a time, then all ends."""
    stages: list[list[Step]] = [[], [], []]
    for step in blocks:
        end = stream.kind(step).rpartition(".")[2].rpartition("_")[2]
        stages[_STAGES.get(end, 1)].append(step)
    begins, pieces, ends = stages
    seen: dict[Json, int] = {}
    turns: list[tuple[int, Step]] = []
    for step in pieces:
        seen[_index(step)] = seen.get(_index(step), 0) + 1
        turns.append((seen[_index(step)], step))
    return [*begins, *(step for _, step in sorted(turns, key=lambda turn: turn[0])), *ends]


_STAGES = {"start": 0, "added": 0, "stop": 2, "done": 2}


def _twice(moment: Moment, plan: Plan, *, event: str) -> Plan:
    """A template of presets: the event of this type comes twice."""
    return stream.spliced(plan, stream.of_kind(event), lambda step: (step, _bare(step)))


def end_twice(moment: Moment, plan: Plan) -> Plan:
    """The event that ends the answer comes twice, as behind two proxies; no text comes again.

    Who acts at that event, and not at the end of the stream, hands the answer on twice.
    """
    return stream.spliced(plan, _ends, lambda step: (step, _without_text(step)))


def _ends(step: Step) -> bool:
    # Clients of Chat stop at `[DONE]`, so there the reason for the stop comes twice.
    return stream.finishes(step) or stream.is_end(step)


def _without_text(step: Step) -> Send:
    if stream.parts(step):
        return _bare(stream.with_parts(step, []))
    is_chunk = bool(stream.choice_of(stream.value(step)))
    return _bare(stream.with_choice(step, delta={}) if is_chunk else step)


def _bare(step: Step) -> Send:
    return Send(step.data if isinstance(step, Send) else b"")


def _shifted(step: Step) -> Step:
    index = stream.value(step).get("index")
    return stream.changed(step, index=index + 1) if isinstance(index, int) else step
