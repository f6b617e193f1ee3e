"""What is particular to the stream of one wire, of Chat, Gemini or Responses.

Clones of Chat number all calls 0, leave the id out, send it late, or repeat it. A plain answer of
Gemini's is one chunk without a frame, so what bends a chunk bends that too. The SDK's helper for
Responses reports every other end as a missing `response.completed`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Close, Plan, Send, Step
from harness.core.values.strict import FromOne
from harness.faults.shared import stream_events as stream

STAGE = "bytes"
SEAMS = ("model",)
_CHAT = (
    *("calls_all_at_index_0", "call_without_id", "call_id_late", "call_id_in_each_fragment"),
    *("calls_by_turns", "usage_without_choices", "all_in_the_last_chunk"),
    *("role_in_each_chunk", "calls_in_one_chunk", "arguments_left_empty"),
)
_GEMINI = (
    *("no_stop_reason", "calls_without_ids", "chunk_without_candidates"),
    *("malformed_call", "blocked_midway"),
)
_RESPONSES = (
    *("response_failed", "response_incomplete", "nested_error_event"),
    *("sequence_gap", "sequence_repeated"),
)
WIRES = {
    **dict.fromkeys(_CHAT, ("openai-chat",)),
    **dict.fromkeys(_GEMINI, ("gemini",)),
    **dict.fromkeys(_RESPONSES, ("openai-responses",)),
    # On Gemini too: Chevey339/kelivo#1003.
    "early_finish_reason": ("openai-chat", "gemini"),
}

_USAGE = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}


def calls_all_at_index_0(moment: Moment, plan: Plan) -> Plan:
    """Every tool call is numbered 0: a client glues their ids, names and arguments together."""
    return _refragmented(plan, lambda call: {**call, "index": 0})


def call_without_id(moment: Moment, plan: Plan) -> Plan:
    """No fragment of a tool call has an id."""
    return _refragmented(plan, _nameless)


def call_id_late(moment: Moment, plan: Plan) -> Plan:
    """The id of a tool call comes in its own fragment, after the arguments."""
    calls = [{"index": n, "id": id_, "function": {"arguments": ""}} for n, id_ in _ids(plan)]
    bent = _refragmented(plan, _nameless)
    if bent is plan:
        return plan
    return stream.spliced(bent, stream.finishes, lambda step: (_fragments(step, calls), step))


def call_id_in_each_fragment(moment: Moment, plan: Plan) -> Plan:
    """Each fragment of a tool call repeats its id."""
    ids = dict(_ids(plan))
    return _refragmented(plan, lambda call: {**call, "id": ids.get(call.get("index"), "")})


def calls_by_turns(moment: Moment, plan: Plan) -> Plan:
    """The fragments of the tool calls come by turns; each names the index of its call."""
    events = list(stream.opened(plan))
    places = [place for place, step in enumerate(events) if _calls(step)]
    seen: dict[Json, int] = {}
    turns: list[tuple[int, Step]] = []
    for step in (events[place] for place in places):
        index = _calls(step)[0].get("index")
        seen[index] = seen.get(index, 0) + 1
        turns.append((seen[index], step))
    for place, (_, step) in zip(places, sorted(turns, key=lambda turn: turn[0]), strict=True):
        events[place] = step
    return tuple(events) if len(seen) > 1 else plan


def calls_in_one_chunk(moment: Moment, plan: Plan) -> Plan:
    """All tool calls of an answer come whole, in one chunk, as Gemini's and local servers do."""
    events = stream.opened(plan)
    places = [place for place, step in enumerate(events) if _calls(step)]
    whole: dict[Json, dict[str, Json]] = {}
    for call in (call for place in places for call in _calls(events[place])):
        kept = whole.setdefault(call.get("index"), call)
        if kept is not call:
            arguments = _arguments(kept) + _arguments(call)
            whole[call.get("index")] = _with_arguments(kept, arguments)
    if len(places) < 2 or len(whole) < 2:
        return plan
    last = _with_calls(events[places[-1]], list(whole.values()))
    return tuple(
        last if place == places[-1] else step
        for place, step in enumerate(events)
        if place not in places[:-1]
    )


def arguments_left_empty(moment: Moment, plan: Plan) -> Plan:
    """Arguments of `{}` come as an empty text: such a call is whole and takes nothing."""

    def emptied(call: dict[str, Json]) -> dict[str, Json]:
        return _with_arguments(call, "") if _arguments(call) == "{}" else call

    return _refragmented(plan, emptied)


def _arguments(call: dict[str, Json]) -> str:
    said = call.get("function")
    arguments = said.get("arguments") if isinstance(said, dict) else ""
    return arguments if isinstance(arguments, str) else ""


def _with_arguments(call: dict[str, Json], arguments: str) -> dict[str, Json]:
    said = call.get("function")
    said = said if isinstance(said, dict) else {}
    return {**call, "function": {**said, "arguments": arguments}}


def usage_without_choices(moment: Moment, plan: Plan) -> Plan:
    """Before `[DONE]` comes a chunk that only counts tokens: its list of choices is empty."""
    first = next((step for step in stream.opened(plan) if stream.value(step)), None)
    if first is None:
        return plan
    chunk = stream.event({**stream.value(first), "choices": [], "usage": _USAGE})
    return stream.spliced(plan, stream.of_kind(stream.DONE), lambda step: (chunk, step))


def early_finish_reason(moment: Moment, plan: Plan) -> Plan:
    """The first chunk with content says `stop` already, and the rest comes after it."""

    def stopped(step: Step) -> tuple[Step, ...]:
        if stream.candidate_of(step):
            return (stream.with_candidate(step, finishReason="STOP"),)
        return (stream.with_choice(step, finish_reason="stop"),)

    return stream.spliced(
        plan, lambda s: bool(stream.delta(s).get("content")) or _has_text(s), stopped
    )


def role_in_each_chunk(moment: Moment, plan: Plan) -> Plan:
    """Each chunk of the answer names the role again, as servers of local models write them."""

    def named(step: Step) -> Step:
        said = stream.delta(step)
        is_piece = any(map(said.get, _PIECES))
        return stream.with_choice(step, delta={"role": "assistant", **said}) if is_piece else step

    return stream.mapped(plan, named)


def all_in_the_last_chunk(moment: Moment, plan: Plan) -> Plan:
    """The finish reason and the usage come in one chunk with the last piece of the answer."""
    events = stream.opened(plan)
    pieces = [n for n, step in enumerate(events) if any(map(stream.delta(step).get, _PIECES))]
    end = stream.find(events, stream.finishes)
    if not pieces or end is None or end < pieces[-1]:
        return plan
    usage = next((u for step in events[end:] if (u := stream.value(step).get("usage"))), None)
    reason = stream.choice_of(stream.value(events[end]))["finish_reason"]
    last = stream.with_choice(events[pieces[-1]], finish_reason=reason)
    last = stream.changed(last, usage=usage) if usage else last
    rest = (step for step in events[end + 1 :] if not stream.value(step).get("usage"))
    return (*events[: pieces[-1]], last, *events[pieces[-1] + 1 : end], *rest)


_PIECES = ("content", "tool_calls")


def _nameless(call: dict[str, Json]) -> dict[str, Json]:
    return {name: part for name, part in call.items() if name != "id"}


def _calls(step: Step) -> list[dict[str, Json]]:
    found = stream.delta(step).get("tool_calls")
    return [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []


def _ids(plan: Plan) -> list[tuple[Json, str]]:
    calls = [call for step in stream.opened(plan) for call in _calls(step)]
    return [(call.get("index"), call["id"]) for call in calls if call.get("id")]


def _fragments(step: Step, calls: list[dict[str, Json]]) -> Send:
    chunk = stream.with_choice(step, delta={"tool_calls": calls}, finish_reason=None)
    return Send(chunk.data)


def _with_calls(step: Step, calls: list[dict[str, Json]]) -> Send:
    return stream.with_choice(step, delta={**stream.delta(step), "tool_calls": calls})


def _refragmented(plan: Plan, rewrite: Callable[[dict[str, Json]], dict[str, Json]]) -> Plan:
    """The stream with each fragment of a tool call rewritten; it leaves whole, for clients read
    calls out of it, if other ones."""
    events = stream.opened(plan)
    bent: Plan = tuple(
        _with_calls(step, list(map(rewrite, calls))) if (calls := _calls(step)) else step
        for step in events
    )
    same = [_calls(step) for step in bent] == [_calls(step) for step in events]
    return plan if same else bent


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
    if not _has_call(step):
        return step
    return stream.with_parts(
        step,
        [
            {**p, "functionCall": _nameless(p["functionCall"])} if "functionCall" in p else p
            for p in stream.parts(step)
        ],
    )


def chunk_without_candidates(moment: Moment, plan: Plan) -> Plan:
    """After the first chunk comes one that only counts tokens."""

    def counted(step: Step) -> tuple[Step, ...]:
        said = {k: v for k, v in stream.value(step).items() if k != "candidates"}
        return (step, stream.event(said))

    return stream.spliced(plan, stream.of_kind("chunk"), counted)


def malformed_call(moment: Moment, plan: Plan) -> Plan:
    """In place of its calls the model says `MALFORMED_FUNCTION_CALL`: it wrote one badly."""

    return _stopped_at(plan, _has_call, 0, "MALFORMED_FUNCTION_CALL")


def blocked_midway(moment: Moment, plan: Plan) -> Plan:
    """After the first text the answer stops for `SAFETY`."""

    return _stopped_at(plan, _has_text, 1, "SAFETY")


def _stopped_at(plan: Plan, sign: Callable[[Step], bool], more: int, reason: str) -> Plan:
    """The plan, stopped for a reason `more` events behind the first one with a sign."""

    def bend(events: Plan) -> Plan:
        place = stream.find(events, sign)
        return events if place is None else _stopped(events, place, place + more, reason)

    return _bent(plan, bend)


def _has_call(step: Step) -> bool:
    return any("functionCall" in part for part in stream.parts(step))


def _has_text(step: Step) -> bool:
    return any(part.get("text") for part in stream.parts(step))


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
    last = Send(last.data) if before else stream.headed(last, events[0])
    return (*before, last, *events[end + 1 :])


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


Reason = Literal["max_output_tokens", "content_filter", "max_messages", "steered"]


def response_failed(
    moment: Moment,
    plan: Plan,
    *,
    code: str = "server_error",
    message: str = "The server had an error while processing your request.",
) -> Plan:
    """The stream ends with `response.failed` and an error in the response."""
    error = {"code": code, "message": message}
    return _ends_as(plan, "failed", {"error": error})


def response_incomplete(
    moment: Moment, plan: Plan, *, reason: Reason = "max_output_tokens"
) -> Plan:
    """The stream ends with `response.incomplete`, which gives a reason."""
    return _ends_as(plan, "incomplete", {"incomplete_details": {"reason": reason}})


def nested_error_event(
    moment: Moment, plan: Plan, *, code: str = "server_error", message: str = "Overloaded"
) -> Plan:
    """In place of the end comes an error event whose fields stand under `error`."""
    error = {"type": code, "code": code, "message": message, "param": None}
    said = stream.frame({"type": "error", "error": error}, "error")
    return stream.spliced(plan, stream.is_end, lambda step: (said,), broken=True)


def sequence_gap(moment: Moment, plan: Plan, *, missing: FromOne = 1) -> Plan:
    """Between any two events the `sequence_number` leaves `missing` numbers out."""
    return stream.mapped(plan, lambda step: _numbered(step, missing + 1))


def sequence_repeated(moment: Moment, plan: Plan) -> Plan:
    """A piece of text comes twice with the same `sequence_number`: a client doubles it."""

    def doubled(step: Step) -> tuple[Step, ...]:
        return (step, Send(step.data)) if isinstance(step, Send) else (step,)

    return stream.spliced(plan, stream.of_kind("response.output_text.delta"), doubled)


def _ends_as(plan: Plan, status: str, more: dict[str, Json]) -> Plan:
    return stream.spliced(plan, stream.is_end, lambda step: (_end(step, status, more), Close()))


def _end(step: Step, status: str, more: dict[str, Json]) -> Send:
    said = stream.value(step)
    response = {**said.get("response", {}), "status": status, **more}
    return stream.event({**said, "type": f"response.{status}", "response": response})


def _numbered(step: Step, stride: int) -> Step:
    number = stream.value(step).get("sequence_number")
    return (
        stream.changed(step, sequence_number=number * stride) if isinstance(number, int) else step
    )
