"""Answers whose JSON is changed, in a body or in the events of a stream; nothing here is a fault.

What is no JSON object stays as it is, byte for byte, and so does what the change leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from harness.core.values.plans import Head, Plan, Send

Change = Callable[[dict[str, Any]], dict[str, Any]]

_INNER = ("message", "response")
_DATA = b"data:"


def rewritten(plan: Plan, change: Change) -> Plan:
    """The plan with `change` made to every object that an answer's fields may stand in.

    That is the body or an event's data, and the message within it. A length that the head states
    is left out once the body has changed.
    """
    bent = tuple(_step(step, change) if isinstance(step, Send) else step for step in plan)
    return (
        plan if bent == plan else tuple(_unmeasured(s) if isinstance(s, Send) else s for s in bent)
    )


def _step(send: Send, change: Change) -> Send:
    data = send.data
    if data.lstrip().startswith(b"{"):
        return msgspec.structs.replace(send, data=_json(data, change))
    lines = [_line(line, change) for line in data.split(b"\n")]
    return msgspec.structs.replace(send, data=b"\n".join(lines))


def _line(line: bytes, change: Change) -> bytes:
    if not line.startswith(_DATA):
        return line
    data = line.removeprefix(_DATA)
    changed = _json(data.strip(), change)
    return line if changed == data.strip() else b"data: " + changed


def _json(data: bytes, change: Change) -> bytes:
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
