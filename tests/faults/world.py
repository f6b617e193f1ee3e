"""A fault on its own, for tests: a plan goes in, a plan comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.core.history.past import Past
from harness.core.transition.ports import Moment, Reading
from harness.core.values.calls import Call, ModelRequest, OutboxRequest, Request, Seam, ToolRequest
from harness.core.values.draws import Draws
from harness.core.values.messages import Text, ToolUse
from harness.core.values.plans import Plan, Reply
from harness.faults import by_kind
from harness.providers import by_name
from harness.providers.anthropic.provider import AnthropicProvider

REQUESTS: dict[Seam, Request] = {
    "model": ModelRequest("m", ()),
    "tool": ToolRequest("i", "t", {}),
    "outbox": OutboxRequest("final", "x"),
}


def bend(
    fault: Callable[..., Plan] | str,
    plan: Plan,
    *,
    seam: Seam = "model",
    firing: int = 1,
    wire: str = "anthropic",
    **settings: Any,
) -> Plan:
    """The plan as the fault, or the one of that kind, leaves it."""
    function = by_kind(fault).function if isinstance(fault, str) else fault
    call = Call(f"main/{seam}#1", seam, 1, "main", 1, 0, REQUESTS[seam])
    traits = by_name(wire).traits()
    return function(Moment(call, Past(), Draws(1), firing, wire, {}, traits), plan, **settings)


def written(*, stream: bool) -> Plan:
    """A reply of text and a tool call, as the wire writes it."""
    reply = Reply((Text("hi"), ToolUse("toolu_1", "t", {"a": "b"})), "tool_use")
    reading = Reading("m", (), 0, (), stream=stream)
    return AnthropicProvider().write(reply, reading, "main/model#1", Draws(1))
