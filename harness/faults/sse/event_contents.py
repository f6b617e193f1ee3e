"""Events that are unknown, count wrongly, or say next to nothing.

Each event of a flood resets a read time-out, so only a watchdog on content sees such a stall. A
client that keeps every event leaks memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Plan, Send, Step
from harness.core.values.strict import FromOne
from harness.faults.shared import stream_events as stream

STAGE = "bytes"
SEAMS = ("model",)
WIRES = {
    "delta_of_another_kind": ("anthropic",),
    "unknown_delta": ("anthropic",),
    "unknown_event": ("anthropic", "openai-responses"),
    "unknown_block": ("anthropic",),
    "usage_only_at_the_start": ("anthropic",),
    "usage_decreasing": ("anthropic",),
    "ping_flood": ("anthropic",),
}

_OTHERS = {
    "text": {"type": "thinking_delta", "thinking": "Hm."},
    "thinking": {"type": "text_delta", "text": "Hm."},
    "tool_use": {"type": "text_delta", "text": "Hm."},
}


def delta_of_another_kind(moment: Moment, plan: Plan) -> Plan:
    """A block gets a piece that is not of its kind, beside its own."""
    return stream.spliced(plan, stream.of_kind("content_block_start"), _with_a_foreign_piece)


def unknown_delta(moment: Moment, plan: Plan, *, type: str = "mood_delta") -> Plan:
    """A block gets a piece of a kind that no client knows, beside its own."""
    return stream.spliced(
        plan,
        stream.of_kind("content_block_start"),
        lambda step: (step, _piece(step, {"type": type})),
    )


def unknown_event(moment: Moment, plan: Plan, *, type: str = "weather") -> Plan:
    """After the first event comes one of a type that no client knows."""
    type = moment.traits.event_prefix + type
    return stream.spliced(
        plan,
        stream.of_kind("message_start", "response.created"),
        lambda step: (step, stream.frame({"type": type, "value": 1}, type)),
    )


def unknown_block(moment: Moment, plan: Plan, *, type: str = "hologram") -> Plan:
    """After the last block comes one of a type that no client knows."""
    index = len(
        [s for s in stream.opened(plan) if stream.value(s).get("type") == "content_block_start"]
    )
    block = {"type": type, "data": "?"}
    begin = {"type": "content_block_start", "index": index, "content_block": block}
    end = {"type": "content_block_stop", "index": index}
    return stream.spliced(
        plan,
        stream.of_kind("message_delta"),
        lambda step: (stream.event(begin), stream.event(end), step),
    )


def _with_a_foreign_piece(step: Step) -> tuple[Step, ...]:
    block = stream.value(step).get("content_block")
    other = _OTHERS.get(block.get("type", "")) if isinstance(block, dict) else None
    return (step, _piece(step, other)) if other else (step,)


def _piece(step: Step, delta: dict[str, str]) -> Step:
    index = stream.value(step).get("index")
    return stream.event({"type": "content_block_delta", "index": index, "delta": delta})


def usage_only_at_the_start(moment: Moment, plan: Plan) -> Plan:
    """Only message_start counts tokens; the end says nothing of them, and the SDK trips over it."""
    return stream.spliced(plan, _counts_at_the_end, lambda step: (_uncounted(step),), broken=True)


def usage_decreasing(moment: Moment, plan: Plan) -> Plan:
    """The end counts fewer tokens than the start did: a difference of the two is negative."""
    return _last_usage(plan, lambda usage: {**usage, "input_tokens": 0, "output_tokens": 0})


def usage_huge(moment: Moment, plan: Plan, *, tokens: FromOne = 2**53 + 1) -> Plan:
    """The end counts more output than any model writes."""
    name = moment.traits.output_count
    return _last_usage(plan, lambda usage: {**usage, name: tokens})


def _last_usage(plan: Plan, count: Callable[[dict[str, Json]], dict[str, Json]]) -> Plan:
    """The stream with another usage at its end."""
    return stream.spliced(plan, _counts_at_the_end, lambda step: (_counted(step, count),))


def _counts_at_the_end(step: Step) -> bool:
    said = stream.value(step)
    last = said.get("type") in ("message_delta", "response.completed") or "choices" in said
    last = last or bool(stream.candidate_of(step).get("finishReason"))
    return last and isinstance(_usage(said), dict)


def _usage(said: dict[str, Json]) -> Json:
    response = said.get("response")
    if isinstance(response, dict):
        return response.get("usage")
    return said.get("usage") or said.get("usageMetadata")


def _counted(step: Step, count: Callable[[dict[str, Json]], dict[str, Json]]) -> Step:
    said = stream.value(step)
    usage = count(_usage(said))
    if "response" in said:
        return stream.changed(step, response={**said["response"], "usage": usage})
    return stream.changed(step, **{"usageMetadata" if "usageMetadata" in said else "usage": usage})


def _uncounted(step: Step) -> Step:
    said = {name: part for name, part in stream.value(step).items() if name != "usage"}
    return stream.headed(stream.event(said), step)


Many = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
"""How many events; no run needs more."""


_ESCALATED_MOST = 80_000
"""How many events a flood has at most after it was made harder."""


def ping_flood(moment: Moment, plan: Plan, *, pings: Many = 10_000) -> Plan:
    """After the first event come `pings` pings; escalating, twice as many, at most 80,000."""
    return _behind_the_first(plan, stream.event({"type": "ping"}), _flood(moment, pings))


def comment_flood(moment: Moment, plan: Plan, *, comments: Many = 10_000) -> Plan:
    """After the first event come `comments` comment lines, as gateways send to keep alive."""
    return _behind_the_first(plan, Send(b": keep-alive\n\n"), _flood(moment, comments))


def _flood(moment: Moment, count: int) -> int:
    # A client reads about 25,000 lines in a second of processor time. A campaign draws 40,000, and
    # 64 times as many took the time of a whole run: that was told as an agent that computes.
    return moment.grown(count, _ESCALATED_MOST)


def tiny_deltas(moment: Moment, plan: Plan) -> Plan:
    """Every piece of text and of a tool's input comes as one event for each character."""
    events = stream.opened(plan)
    steps = tuple(small for step in events for small in _small(step))
    return plan if steps == events else steps


def _behind_the_first(plan: Plan, filler: Send, count: int) -> Plan:
    """The stream with one more send after its first, which holds all the fillers."""
    events = stream.opened(plan)
    place = next((n for n, step in enumerate(events) if isinstance(step, Send)), None)
    if place is None:
        return plan
    return (*events[: place + 1], Send(filler.data * count), *events[place + 1 :])


def _small(step: Step) -> Iterator[Step]:
    text, make = _text_in(step)
    if len(text) < 2:
        yield step
        return
    for place, letter in enumerate(text):
        small = make(letter, not place)
        yield Send(small.data) if place else small


def _text_in(step: Step) -> tuple[str, Callable[[str, bool], Send]]:
    """The text that an event adds, "" for none, and what makes the event with another text.

    Only the first of such events says what the event says besides.
    """
    match stream.value(step):
        case {"type": "content_block_delta", "delta": {"type": str(kind), **rest}}:
            name, text = next(iter(rest.items()), ("", ""))
            said = text if isinstance(text, str) and kind != "signature_delta" else ""
            return said, lambda letter, _: stream.changed(step, delta={"type": kind, name: letter})
        case {"type": str(kind), "delta": str(text)} if "delta" in kind:
            return text, lambda letter, _: stream.changed(step, delta=letter)
    if parts := stream.parts(step):
        (part, *others) = parts
        text = "" if others else part.get("text")
        made = lambda letter, _: stream.with_parts(step, [{**part, "text": letter}])  # noqa: E731
        return text if isinstance(text, str) else "", made
    delta = stream.delta(step)
    text = delta.get("content")

    def chunk(letter: str, first: bool) -> Send:
        return stream.with_choice(step, delta={**(delta if first else {}), "content": letter})

    return text if isinstance(text, str) else "", chunk
