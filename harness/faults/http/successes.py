"""A 200 that is not an ordinary answer: an error in disguise, nothing, half of something, or new
words.

An unreadable answer leaves the script's turn unplayed. Single fields of a whole answer are changed
in the bytes, because the provider adds them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import Opaque
from harness.core.values.plans import Head, Plan, Send
from harness.faults.shared.replies import reply_of, with_reply

STAGE = {"missing_usage": "bytes", "model_echo_differs": "bytes", "count_tokens_disagrees": "bytes"}
SEAMS = {
    "missing_usage": ("model", "provider"),
    "model_echo_differs": ("model", "provider"),
    "count_tokens_disagrees": ("model", "provider"),
}
WIRES = {"unknown_block": ("anthropic", "openai-responses"), "fallback_block": ("anthropic",)}

_JSON = Head(200, {"content-type": "application/json"})
_STREAM = Head(200, {"content-type": "text/event-stream; charset=utf-8"})


def null_content(moment: Moment, plan: Plan) -> Plan:
    """200 and a message whose content is null; all else is as usual."""
    request = moment.call.request
    model = request.model if isinstance(request, ModelRequest) else ""
    stream = isinstance(request, ModelRequest) and request.stream
    first, *others = moment.traits.hollow(model, stream)
    return (Send(first, _STREAM if stream else _JSON), *map(Send, others))


def malformed_body(moment: Moment, plan: Plan, *, body: str = "") -> Plan:
    """200, and a JSON body that breaks off; the connection says that it is whole.

    Without `body` it is half of an answer of the provider's.
    """
    whole = b"".join(moment.traits.hollow("", False))
    return (Send(body.encode() or whole[: len(whole) // 2], _JSON),)


def unknown_stop(moment: Moment, plan: Plan, *, stop: str = "paused_for_review") -> Plan:
    """A whole answer stops for a reason that no client knows."""
    reply = reply_of(plan)
    if reply is None or reply.stop == stop:
        return plan
    return with_reply(plan, msgspec.structs.replace(reply, stop=stop))


def unknown_block(moment: Moment, plan: Plan, *, type: str = "search_brief") -> Plan:
    """A whole answer begins with a block of a type that no client knows."""
    return _before(plan, Opaque(type, {"type": type, "id": "sb_01", "brief": ["one", 2, None]}))


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
    reply = reply_of(plan)
    if reply is None:
        return plan
    blocks = (block, *reply.blocks)
    return with_reply(plan, msgspec.structs.replace(reply, blocks=blocks))


_PROMPT = ("input_tokens", "prompt_tokens")


def missing_usage(moment: Moment, plan: Plan) -> Plan:
    """Nothing is counted: the usage is left out."""
    return with_json(plan, lambda value: {k: v for k, v in value.items() if k not in _USAGE})


_USAGE = ("usage", "usageMetadata")


def model_echo_differs(moment: Moment, plan: Plan, *, model: str = "") -> Plan:
    """The answer names another model than the request: the cost is that of the named model.

    Without `model` it is a small one of the same provider.
    """
    name, said = moment.traits.model_field, model or moment.traits.other_model
    return with_json(plan, lambda value: {**value, name: said} if name in value else value)


def count_tokens_disagrees(
    moment: Moment, plan: Plan, *, factor: Annotated[float, msgspec.Meta(gt=0)] = 1.3
) -> Plan:
    """The prompt's tokens are counted otherwise than the refusals count: `factor` times as many."""
    return with_json(plan, lambda value: _counted(value, factor))


def _counted(value: dict[str, Any], factor: float) -> dict[str, Any]:
    if isinstance(value.get("usage"), dict):
        value = {**value, "usage": _counted(value["usage"], factor)}
    counts = {name: value[name] for name in _PROMPT if isinstance(value.get(name), int)}
    return value | {name: round(count * factor) for name, count in counts.items()}


_Change = Callable[[dict[str, Any]], dict[str, Any]]

_INNER = ("message", "response")

_DATA = b"data:"


def with_json(plan: Plan, change: _Change) -> Plan:
    """The plan with `change` made to every object that an answer's fields may stand in.

    That is the body or an event's data, and the message within it. A length that the head states
    is left out once the body has changed.
    """
    bent = tuple(_step(step, change) if isinstance(step, Send) else step for step in plan)
    return (
        plan if bent == plan else tuple(_unmeasured(s) if isinstance(s, Send) else s for s in bent)
    )


def _step(send: Send, change: _Change) -> Send:
    data = send.data
    if data.lstrip().startswith(b"{"):
        return msgspec.structs.replace(send, data=_json(data, change))
    lines = [_line(line, change) for line in data.split(b"\n")]
    return msgspec.structs.replace(send, data=b"\n".join(lines))


def _line(line: bytes, change: _Change) -> bytes:
    if not line.startswith(_DATA):
        return line
    data = line.removeprefix(_DATA)
    changed = _json(data.strip(), change)
    return line if changed == data.strip() else b"data: " + changed


def _json(data: bytes, change: _Change) -> bytes:
    try:
        value = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return data
    if not isinstance(value, dict):
        return data
    changed = change(value)
    for name in _INNER:
        if isinstance(changed.get(name), dict):
            changed = {**changed, name: change(changed[name])}
    return data if changed == value else msgspec.json.encode(changed)


def _unmeasured(send: Send) -> Send:
    if send.head is None:
        return send
    headers = {k: v for k, v in send.head.headers.items() if k.lower() != "content-length"}
    return msgspec.structs.replace(send, head=Head(send.head.status, headers))
