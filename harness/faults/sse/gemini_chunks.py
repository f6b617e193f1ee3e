"""What is particular to Gemini's chunks: ids, reasons to stop, and chunks that say nothing.

A plain answer of Gemini's is one chunk without a frame, so what bends a chunk bends that too.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan, Send, Step
from harness.faults.shared import stream_events as stream

STAGE = "bytes"
SEAMS = ("model",)
CODES = {
    "no_stop_reason": ("S17",),
    "calls_without_ids": ("S18",),
    "chunk_without_candidates": ("S19",),
    "malformed_call": ("M15",),
    "blocked_midway": ("M24",),
}
WIRES = dict.fromkeys(CODES, ("gemini",))


def no_stop_reason(moment: Moment, plan: Plan) -> Plan:
    """All chunks come, and none says why the answer stops."""

    def unended(step: Step) -> tuple[Step, ...]:
        candidate = {k: v for k, v in stream.candidate_of(step).items() if k != "finishReason"}
        return (stream.changed(step, candidates=[candidate]),)

    return stream.spliced(plan, stream.is_end, unended, broken=True)


def calls_without_ids(moment: Moment, plan: Plan) -> Plan:
    """No call has an id, as older models answer: results are told apart by name and order."""
    return _bent(plan, lambda events: tuple(map(_without_ids, events)))


def _without_ids(step: Step) -> Step:
    parts = stream.parts(step)
    if not _calls(step):
        return step
    bare = [
        {**part, "functionCall": {k: v for k, v in part["functionCall"].items() if k != "id"}}
        if "functionCall" in part
        else part
        for part in parts
    ]
    return stream.with_parts(step, bare)


def chunk_without_candidates(moment: Moment, plan: Plan) -> Plan:
    """After the first chunk comes one that only counts tokens."""

    def counted(step: Step) -> tuple[Step, ...]:
        said = {k: v for k, v in stream.value(step).items() if k != "candidates"}
        return (step, stream.event(said))

    return stream.spliced(plan, stream.of_kind("chunk"), counted)


def malformed_call(moment: Moment, plan: Plan) -> Plan:
    """In place of its calls the model says `MALFORMED_FUNCTION_CALL`: it wrote one badly."""

    def bend(events: Plan) -> Plan:
        place = stream.find(events, _calls)
        return (
            events if place is None else _stopped(events, place, place, "MALFORMED_FUNCTION_CALL")
        )

    return _bent(plan, bend)


def blocked_midway(moment: Moment, plan: Plan) -> Plan:
    """After the first text the answer stops for `SAFETY`."""

    def bend(events: Plan) -> Plan:
        place = stream.find(events, lambda step: any(p.get("text") for p in stream.parts(step)))
        return events if place is None else _stopped(events, place, place + 1, "SAFETY")

    return _bent(plan, bend)


def _calls(step: Step) -> bool:
    return any("functionCall" in part for part in stream.parts(step))


def _stopped(events: Plan, first: int, place: int, reason: str) -> Plan:
    """The events before `place`, and the last chunk with another reason to stop, without calls.

    Nothing changes where the answer ends before the event `first`.
    """
    end = stream.find(events, stream.is_end)
    if end is None or end < first:
        return events
    kept = [part for part in stream.parts(events[end]) if "functionCall" not in part]
    content = {"parts": kept, "role": "model"} if kept else {"role": "model"}
    last = stream.with_candidate(events[end], finishReason=reason, content=content)
    before = events[: min(place, end)]
    return (*before, last if not before else Send(last.data), *events[end + 1 :])


def _bent(plan: Plan, bend: Callable[[Plan], Plan]) -> Plan:
    """The plan with its chunks bent: those of a stream, or the one that a plain answer is."""
    if events := stream.opened(plan):
        bent = bend(events)
        return plan if bent == events else bent
    framed = tuple(
        Send(_DATA + step.data + _END, step.head) if isinstance(step, Send) else step
        for step in plan
    )
    bent = bend(framed)
    return plan if bent == framed else tuple(_unframed(step) for step in bent)


def _unframed(step: Step) -> Step:
    if not isinstance(step, Send):
        return step
    return Send(step.data.removeprefix(_DATA).removesuffix(_END), step.head)


_DATA, _END = b"data: ", b"\n\n"
