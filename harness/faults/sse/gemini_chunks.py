"""What is particular to Gemini's chunks: ids, reasons to stop, and chunks that say nothing."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan, Send, Step
from harness.faults import stream_events as stream

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
    events = stream.opened(plan)
    steps = tuple(_without_ids(step) for step in events)
    return plan if steps == events else steps


def _without_ids(step: Step) -> Step:
    parts = stream.parts(step)
    if not any("functionCall" in part for part in parts):
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
    events = stream.opened(plan)
    place = stream.find(events, lambda step: any("functionCall" in p for p in stream.parts(step)))
    return plan if place is None else _stopped(events, place, "MALFORMED_FUNCTION_CALL")


def blocked_midway(moment: Moment, plan: Plan) -> Plan:
    """After the first text the answer stops for `SAFETY`."""
    events = stream.opened(plan)
    place = stream.find(events, lambda step: any(p.get("text") for p in stream.parts(step)))
    return plan if place is None else _stopped(events, place + 1, "SAFETY")


def _stopped(events: Plan, place: int, reason: str) -> Plan:
    """The events before `place`, and the last chunk with another reason to stop."""
    end = stream.find(events, stream.is_end)
    if end is None or end < place:
        return events
    last = stream.with_candidate(events[end], finishReason=reason)
    return (*events[:place], last if not place else Send(last.data), *events[end + 1 :])
