"""Replies taken apart and put together again; nothing here is a fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import Json, Text, ToolSpec, ToolUse
from harness.core.values.plans import Answer, Plan, Reply


def reply_of(plan: Plan) -> Reply | None:
    """What the model would say, None where it says nothing."""
    values = (step.value for step in plan if isinstance(step, Answer))
    return next((value for value in values if isinstance(value, Reply)), None)


def with_reply(plan: Plan, reply: Reply) -> Plan:
    """The plan with another reply in place of its own."""
    return tuple(
        Answer(reply) if isinstance(s, Answer) and isinstance(s.value, Reply) else s for s in plan
    )


def rewritten(plan: Plan, rewrite: Callable[[Reply], Reply]) -> Plan:
    """The plan with its first reply rewritten; an error, or no answer at all, stays."""
    for place, step in enumerate(plan):
        if isinstance(step, Answer) and isinstance(step.value, Reply):
            return (*plan[:place], Answer(rewrite(step.value)), *plan[place + 1 :])
    return plan


def with_calls(
    moment: Moment,
    plan: Plan,
    make: Callable[[ToolUse], Sequence[ToolUse]],
    *,
    stop: str | None = "tool_use",
) -> Plan:
    """The plan with what `make` gives in place of each call of its reply; a reply without one gets
    what is made of `call_of`. Unchanged where the model may not call tools, or nothing is made."""

    def rewrite(reply: Reply) -> Reply:
        if not may_call(moment):
            return reply
        kept = [block for block in reply.blocks if not isinstance(block, ToolUse)]
        calls = [b for b in reply.blocks if isinstance(b, ToolUse)] or call_of(moment)
        made = [new for call in calls for new in make(call)]
        if not made:
            return reply
        return msgspec.structs.replace(reply, blocks=(*kept, *made), stop=stop)

    return rewritten(plan, rewrite)


def calling(moment: Moment, plan: Plan, *calls: ToolUse, text: str = "") -> Plan:
    """The plan with a reply that makes these calls and no others."""
    if not calls or not may_call(moment):
        return plan
    said = (Text(text),) if text else ()
    return rewritten(plan, lambda reply: Reply((*said, *calls), "tool_use", reply.usage))


def may_call(moment: Moment) -> bool:
    """Whether the request offers the model tools."""
    request = moment.call.request
    return isinstance(request, ModelRequest) and request.tools_offered


def call_of(moment: Moment) -> list[ToolUse]:
    """The last call of the conversation with its own id, else one of the first tool that is
    offered; none without tools."""
    last = last_call(moment)
    if last is not None:
        return [msgspec.structs.replace(last, id=new_id(moment))]
    return [made_call(moment, tool) for tool in moment.tools[:1]]


def last_call(moment: Moment) -> ToolUse | None:
    """The last call that the assistant made in the conversation. Where calls are sent as text, it
    is the one that ran last."""
    made = (call for m in reversed(moment.call.messages) for call in reversed(m.tool_uses))
    ran = moment.past.ran.get(moment.call.session)
    return next(made, None) or (ToolUse(ran.id, ran.name, ran.input) if ran else None)


def made_call(moment: Moment, tool: ToolSpec, number: int = 0) -> ToolUse:
    """A call of a tool with what it requires; another `number` gives other arguments."""
    properties = tool.input_schema.get("properties")
    schemas = properties if isinstance(properties, dict) else {}
    values = {name: _value(schemas.get(name), name, number) for name in tool.required}
    return ToolUse(new_id(moment, number), tool.name, values)


def _value(schema: Json, name: str, number: int) -> Json:
    """A value of the schema's type that tells the numbers apart."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    made: dict[Json, Json] = {
        "integer": number,
        "number": number,
        "boolean": bool(number % 2),
        "array": [number],
        "object": {"number": number},
    }
    return made.get(kind if isinstance(kind, str) else None, f"{name} {number}")


def varied(value: Json, number: int) -> dict[str, Json]:
    """The arguments of a call with their first text or number made another one; {} stays."""
    changed = dict(value) if isinstance(value, dict) else {}
    for name, part in changed.items():
        if isinstance(part, str):
            return {**changed, name: f"{part} {number}"}
        if isinstance(part, int) and not isinstance(part, bool):
            return {**changed, name: part + number}
    return changed


def new_id(moment: Moment, number: int = 0) -> str:
    """An id for a call that no script has named."""
    return moment.draws.identifier("toolu_", moment.call.key, "fault", str(number))


def tool_named(moment: Moment, name: str) -> ToolSpec | None:
    """The tool that is offered under that name."""
    return next((tool for tool in moment.call.tools if tool.name == name), None)


def streams(moment: Moment) -> bool:
    """Whether the answer is a stream."""
    request = moment.call.request
    return isinstance(request, ModelRequest) and request.stream
