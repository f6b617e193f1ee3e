"""A 200 that is no ordinary answer: an error in disguise, nothing, half of something, or new words.

What cannot be read as an answer leaves the script's turn unplayed. Unknown words are part of an
answer that is whole, for providers add them without asking.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import Opaque
from harness.core.values.plans import Head, Plan, Send
from harness.faults.http import hollow, said

STAGE = "value"

SEAMS = ("model",)

CODES = {
    "error_envelope_under_200": ("H14",),
    "empty_body": ("H14",),
    "malformed_body": ("H14",),
    "null_content": ("H15",),
    "unknown_stop": ("H15",),
    "unknown_block": ("H15",),
    "fallback_block": ("H16",),
}

WIRES = {
    "unknown_block": ("anthropic", "openai-responses"),
    "fallback_block": ("anthropic",),
}

_JSON = Head(200, {"content-type": "application/json"})


def error_envelope_under_200(
    moment: Moment, plan: Plan, *, type: str = "api_error", message: str = "Internal server error"
) -> Plan:
    """The body is that of an error, and the status is 200."""
    return said.error(moment, 200, message, type=type)


def empty_body(moment: Moment, plan: Plan) -> Plan:
    """200, JSON, and no body at all."""
    return (Send(b"", _JSON),)


def malformed_body(moment: Moment, plan: Plan, *, body: str = '{"id": "msg_01", "cont') -> Plan:
    """200, and a JSON body that breaks off; the connection says that it is whole."""
    return (Send(body.encode(), _JSON),)


def null_content(moment: Moment, plan: Plan) -> Plan:
    """200, a message in every other way, and its content is null."""
    request = moment.call.request
    model = request.model if isinstance(request, ModelRequest) else ""
    stream = isinstance(request, ModelRequest) and request.stream
    return hollow.stream(moment.wire, model) if stream else hollow.body(moment.wire, model)


def unknown_stop(moment: Moment, plan: Plan, *, stop: str = "paused_for_review") -> Plan:
    """A whole answer stops for a reason that nobody has heard of."""
    reply = said.reply_of(plan)
    if reply is None or reply.stop == stop:
        return plan
    return said.said_instead(plan, msgspec.structs.replace(reply, stop=stop))


def unknown_block(moment: Moment, plan: Plan, *, kind: str = "search_brief") -> Plan:
    """A whole answer begins with a block of a kind that nobody has heard of."""
    return _before(plan, Opaque(kind, {"type": kind, "id": "sb_01", "brief": ["one", 2, None]}))


def fallback_block(moment: Moment, plan: Plan, *, model: str = "claude-haiku-4-5") -> Plan:
    """Another model gives the answer, and a `fallback` block says where it took over."""
    request = moment.call.request
    asked = request.model if isinstance(request, ModelRequest) else ""
    trigger = {"type": "refusal", "category": None, "explanation": None}
    value = {
        "type": "fallback",
        "from": {"model": asked},
        "to": {"model": model},
        "trigger": trigger,
    }
    return _before(plan, Opaque("fallback", value))


def _before(plan: Plan, block: Opaque) -> Plan:
    """The plan whose reply begins with the block."""
    reply = said.reply_of(plan)
    if reply is None:
        return plan
    blocks = (block, *reply.blocks)
    return said.said_instead(plan, msgspec.structs.replace(reply, blocks=blocks))
