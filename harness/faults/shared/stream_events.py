"""The events of a stream, one send each, for all providers.

A recorded send may hold many events, and faults need single ones. Nothing here raises for data that
is not JSON, because an earlier fault may have damaged it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import Close, Plan, Send, Step

DONE = "[DONE]"

ENDS = {"message_stop", DONE, "response.completed", "response.incomplete", "response.failed"}
"""The terminal events of all wires."""

_CHUNKS = frozenset({"choices", "candidates", "promptFeedback"})
"""Fields that chunks without a type have."""

# An empty line ends an event, with any of the three line ends; the last event may be torn.
_FRAME = re.compile(rb".+?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)

_LINE_END = re.compile(rb"\r\n|\n|\r")


def opened(plan: Plan) -> Plan:
    """The plan with one send for each event; () where it sends no stream."""
    first = next((step for step in plan if isinstance(step, Send)), None)
    headers = first.head.headers if first and first.head else {}
    content_type = next((v for k, v in headers.items() if k.lower() == "content-type"), "")
    if "event-stream" not in content_type:
        return ()
    return tuple(part for step in plan for part in _parts(step))


def _parts(step: Step) -> tuple[Step, ...]:
    if not isinstance(step, Send):
        return (step,)
    frames = _FRAME.findall(step.data)
    return (step,) if len(frames) < 2 else (Send(frames[0], step.head), *map(Send, frames[1:]))


def value(step: Step) -> dict[str, Json]:
    """The data of an event; {} where it is not an object, and for a step that sends nothing."""
    try:
        found = msgspec.json.decode(_data(step))
    except msgspec.MsgspecError:
        found = None
    return found if isinstance(found, dict) else {}


def kind(step: Step) -> str:
    """The type of an event: the data's own, `[DONE]`, `chunk` for one without, "" for none."""
    said = value(step)
    if not said:
        return DONE if _data(step) == DONE.encode() else ""
    return str(said.get("type") or ("chunk" if _CHUNKS & said.keys() else ""))


def _data(step: Step) -> bytes:
    if not isinstance(step, Send):
        return b""
    lines = _LINE_END.split(step.data)
    return b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))


def delta(step: Step) -> dict[str, Json]:
    """What Chat's first choice adds; {} for any other event."""
    choice = choice_of(value(step))
    found = choice.get("delta")
    return found if isinstance(found, dict) else {}


def choice_of(chunk: dict[str, Json]) -> dict[str, Json]:
    """The first choice of a chunk, or {}."""
    choices = chunk.get("choices")
    return choices[0] if isinstance(choices, list) and choices else {}


def candidate_of(step: Step) -> dict[str, Json]:
    """Gemini's first candidate; {} for any other event."""
    found = value(step).get("candidates")
    return found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}


def parts(step: Step) -> list[dict[str, Json]]:
    """The parts that Gemini's first candidate adds."""
    content = candidate_of(step).get("content")
    found = content.get("parts") if isinstance(content, dict) else None
    return [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []


def with_choice(step: Step, **fields: Json) -> Send:
    """Chat's chunk with other fields of its first choice."""
    return changed(step, choices=[{**choice_of(value(step)), **fields}])


def with_candidate(step: Step, **fields: Json) -> Send:
    """The event with other fields of its candidate."""
    return changed(step, candidates=[{**candidate_of(step), **fields}])


def with_parts(step: Step, parts: list[dict[str, Json]]) -> Send:
    """The event with other parts."""
    return with_candidate(step, content={"parts": parts, "role": "model"})


def frame(said: Json, name: str = "") -> Send:
    """An event of that data. A text is sent as it is; JSON that is not Unicode is escaped."""
    data = said.encode() if isinstance(said, str) else _encoded(said)
    return Send((b"event: %b\n" % name.encode() if name else b"") + b"data: %b\n\n" % data)


def _encoded(said: Json) -> bytes:
    try:
        return msgspec.json.encode(said)
    except UnicodeEncodeError:
        return json.dumps(said, separators=(",", ":")).encode()


def event(said: dict[str, Json]) -> Send:
    """An event that is named as its data's `type` says; a chunk of Chat has no name."""
    return frame(said, str(said.get("type") or ""))


def changed(step: Step, **fields: Json) -> Send:
    """The event with other fields."""
    return headed(event({**value(step), **fields}), step)


def headed(send: Send, former: Step) -> Send:
    """The send with the head of the one in whose place it comes."""
    return Send(send.data, former.head if isinstance(former, Send) else None)


def find(events: Iterable[Step], wanted: Callable[[Step], bool]) -> int | None:
    """The place of the first event that is wanted."""
    return next((place for place, step in enumerate(events) if wanted(step)), None)


def of_kind(*kinds: str) -> Callable[[Step], bool]:
    """Whether an event is of one of these kinds."""
    return lambda step: kind(step) in kinds


def is_end(step: Step) -> bool:
    """Whether an event is the terminal one."""
    return kind(step) in ENDS or bool(candidate_of(step).get("finishReason"))


def finishes(step: Step) -> bool:
    """Whether a chunk says why the answer stops."""
    said = choice_of(value(step)).get("finish_reason") or candidate_of(step).get("finishReason")
    return bool(said)


def spliced(plan: Plan, wanted: Callable[[Step], bool], make: Callable[[Step], Sequence[Step]],
            *, broken: bool = False) -> Plan:  # fmt: skip
    """The plan with what `make` gives in place of the first event that is wanted, unchanged where
    there is none. `broken`: no client can read the whole, so the script's turn comes again."""
    events = opened(plan)
    place = find(events, wanted)
    if place is None:
        return plan
    steps = (*events[:place], *make(events[place]), *events[place + 1 :])
    return ended(steps) if broken else steps


def mapped(plan: Plan, rewrite: Callable[[Step], Step]) -> Plan:
    """The stream with each event rewritten; the plan itself where none is another one."""
    events = opened(plan)
    bent = tuple(map(rewrite, events))
    return plan if bent == events else bent


def cut(plan: Plan, wanted: Callable[[Step], bool]) -> Plan:
    """The plan up to the first event that is wanted, without it; then the end."""
    events = opened(plan)
    place = find(events, wanted)
    return plan if not place else (*events[:place], *closed(events[:place]))


def closed(told: Plan) -> Plan:
    """The end of the connection after these events of an answer, which breaks it off; after the
    finish reason of a Chat stream it breaks nothing off, for a client is shown no more of it."""
    is_all = any(map(finishes, told))
    return () if is_all else (Close(),)


def ended(steps: Plan) -> Plan:
    """The steps with a `Close` at their end."""
    return steps if steps and isinstance(steps[-1], Close) else (*steps, Close())


def error_instead(plan: Plan, after: int, error: Send) -> Plan:
    """The plan with an error in place of what comes after its first `after` events.

    Responses numbers its events, so the error has the number of the event whose place it takes.
    """
    events = opened(plan)
    sends = [place for place, step in enumerate(events) if isinstance(step, Send)]
    if len(sends) <= after:
        return plan
    place = sends[after]
    number = value(events[place]).get("sequence_number")
    error = error if number is None else changed(error, sequence_number=number)
    return (*events[:place], headed(error, events[place]), Close())
