"""A plan's values as HTTP answers, in the JSON of the contract."""

from __future__ import annotations

import msgspec

from harness.core.values.calls import Approval
from harness.core.values.plans import (
    Accepted,
    Answer,
    Delivered,
    Head,
    Plan,
    Raise,
    Send,
    Step,
    ToolAnswer,
    Value,
)
from harness.transports.dispatcher import at_once, json_answer
from harness.transports.http_connection import whole_answer
from harness.transports.http_exchange import CONNECTION_ERRORS
from harness.transports.message_channel import told_message


def as_http(plan: Plan) -> Plan:
    """The plan with each value, and each error that a tool raises, as an HTTP answer."""
    steps: list[Step] = []
    for step in plan:
        match step:
            case Answer(value):
                steps += _answer(value)
            case Raise(error, text) if error not in CONNECTION_ERRORS:
                steps += error_answer(500, text or error)
            case _:
                steps.append(step)
    return tuple(steps)


def _answer(value: Value) -> Plan:
    match value:
        case ToolAnswer(content, is_error):
            if isinstance(content, bytes):  # as a program reads the output of another one
                content = content.decode("utf-8", "surrogateescape")
            return json_answer(200, {"content": content, "is_error": is_error})
        case Approval():
            return json_answer(200, msgspec.structs.asdict(value))
        case Delivered(None) | Accepted():
            return (Send(b"", Head(204, {})),)
        case Delivered(inbound):
            return json_answer(200, told_message(inbound))
    raise TypeError(f"no HTTP answer for {value!r}")


def error_answer(status: int, text: str, **headers: str) -> Plan:
    """An answer of the server itself: what is wrong, in a sentence."""
    return json_answer(status, {"error": f"loop-harness: {text}"}, **headers)


def error_bytes(status: int, text: str, **headers: str) -> bytes:
    """`error_answer` as bytes, after which the connection ends."""
    known = at_once(error_answer(status, text, **headers))
    assert known is not None
    return whole_answer(*known, reusable=False)
