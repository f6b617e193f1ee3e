"""Counts of tokens that cannot be right, or stand where a client does not look for them."""

from __future__ import annotations

from collections.abc import Callable

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json
from harness.core.values.plans import Plan, Step
from harness.core.values.strict import FromOne
from harness.faults.sse.events import changed, event, headed, spliced, value

STAGE = "bytes"

SEAMS = ("model",)

CODES = {
    "usage_only_at_the_start": ("S23",),
    "usage_decreasing": ("S23",),
    "usage_huge": ("S23",),
}

WIRES = {"usage_only_at_the_start": ("anthropic",), "usage_decreasing": ("anthropic",)}

_COUNTS = {
    "anthropic": "output_tokens",
    "openai-chat": "completion_tokens",
    "openai-responses": "output_tokens",
}


def usage_only_at_the_start(moment: Moment, plan: Plan) -> Plan:
    """Only message_start counts tokens; the end says nothing of them, and the SDK trips over it."""
    return spliced(plan, _counts_at_the_end, lambda step: (_uncounted(step),), broken=True)


def usage_decreasing(moment: Moment, plan: Plan) -> Plan:
    """The end counts fewer tokens than the start did: a difference of the two is negative."""
    return _last_usage(plan, lambda usage: {**usage, "input_tokens": 0, "output_tokens": 0})


def usage_huge(moment: Moment, plan: Plan, *, tokens: FromOne = 2**53 + 1) -> Plan:
    """The end counts more output than any model writes."""
    name = _COUNTS[moment.wire]
    return _last_usage(plan, lambda usage: {**usage, name: tokens})


def _last_usage(plan: Plan, count: Callable[[dict[str, Json]], dict[str, Json]]) -> Plan:
    """The stream with another usage at its end."""
    return spliced(plan, _counts_at_the_end, lambda step: (_counted(step, count),))


def _counts_at_the_end(step: Step) -> bool:
    said = value(step)
    last = said.get("type") in ("message_delta", "response.completed") or "choices" in said
    return last and isinstance(_usage(said), dict)


def _usage(said: dict[str, Json]) -> Json:
    response = said.get("response")
    return response.get("usage") if isinstance(response, dict) else said.get("usage")


def _counted(step: Step, count: Callable[[dict[str, Json]], dict[str, Json]]) -> Step:
    said = value(step)
    usage = count(_usage(said))
    if "response" in said:
        return changed(step, response={**said["response"], "usage": usage})
    return changed(step, usage=usage)


def _uncounted(step: Step) -> Step:
    said = {name: part for name, part in value(step).items() if name != "usage"}
    return headed(event(said), step)
