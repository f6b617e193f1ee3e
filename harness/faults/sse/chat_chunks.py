"""What gateways make of Chat Completions' chunks.

Clones of the API number all calls 0, leave the id out, send it late, or repeat it.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Plan, Send, Step
from harness.faults.shared import stream_events as stream

STAGE = "bytes"
SEAMS = ("model",)
CODES = {
    "calls_all_at_index_0": ("S18",),
    "call_without_id": ("S18",),
    "call_id_late": ("S18",),
    "call_id_in_each_fragment": ("S18",),
    "usage_without_choices": ("S19",),
    "early_finish_reason": ("S22",),
}
WIRES = dict.fromkeys(CODES, ("openai-chat",))

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


def usage_without_choices(moment: Moment, plan: Plan) -> Plan:
    """Before `[DONE]` comes a chunk that only counts tokens: its list of choices is empty."""
    first = next((step for step in stream.opened(plan) if stream.value(step)), None)
    if first is None:
        return plan
    chunk = stream.event({**stream.value(first), "choices": [], "usage": _USAGE})
    return stream.spliced(plan, stream.of_kind(stream.DONE), lambda step: (chunk, step))


def early_finish_reason(moment: Moment, plan: Plan) -> Plan:
    """The first chunk with content says `stop` already, and the rest comes after it."""

    def over(step: Step) -> tuple[Step, ...]:
        choice = stream.choice_of(stream.value(step))
        return (stream.changed(step, choices=[{**choice, "finish_reason": "stop"}]),)

    return stream.spliced(plan, lambda step: bool(stream.delta(step).get("content")), over)


def _nameless(call: dict[str, Json]) -> dict[str, Json]:
    return {name: part for name, part in call.items() if name != "id"}


def _calls(step: Step) -> list[dict[str, Json]]:
    found = stream.delta(step).get("tool_calls")
    return [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []


def _ids(plan: Plan) -> list[tuple[Json, str]]:
    calls = [call for step in stream.opened(plan) for call in _calls(step)]
    return [(call.get("index"), call["id"]) for call in calls if call.get("id")]


def _fragments(step: Step, calls: list[dict[str, Json]]) -> Send:
    choice = {
        **stream.choice_of(stream.value(step)),
        "delta": {"tool_calls": calls},
        "finish_reason": None,
    }
    return stream.event({**stream.value(step), "choices": [choice]})


def _with_calls(step: Step, calls: list[dict[str, Json]]) -> Send:
    said = {**stream.delta(step), "tool_calls": calls}
    return stream.changed(step, choices=[{**stream.choice_of(stream.value(step)), "delta": said}])


def _refragmented(plan: Plan, rewrite: Callable[[dict[str, Json]], dict[str, Json]]) -> Plan:
    """The stream with each fragment of a tool call rewritten; it leaves whole, for clients read
    calls out of it, if other ones."""
    events = stream.opened(plan)
    bent: Plan = tuple(
        stream.headed(_with_calls(step, [rewrite(call) for call in _calls(step)]), step)
        if _calls(step)
        else step
        for step in events
    )
    same = [_calls(step) for step in bent] == [_calls(step) for step in events]
    return plan if same else bent
