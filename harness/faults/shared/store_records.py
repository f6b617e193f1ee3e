"""The records of a store, as faults read and make them: lines of JSON, each a fact.

`"fact": "row"` is a stored message, `"delivered"` a sent reply; a bare message is a version 1 row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import StoreRequest
from harness.core.values.messages import Json, Message
from harness.core.values.plans import Plan, Send

Records = tuple[bytes, ...]


def on(moment: Moment, *, access: str, store: str = "") -> bool:
    """Whether the call is of this access to the store, and to a store of this kind if any."""
    request = moment.call.request
    if not isinstance(request, StoreRequest) or request.access != access:
        return False
    return not store or request.store == store


def records(plan: Plan) -> Records:
    """What the plan sends."""
    return tuple(step.data for step in plan if isinstance(step, Send))


def opened(moment: Moment, plan: Plan, damage: Callable[[Records], Sequence[bytes]]) -> Plan:
    """The plan of an opening with its records damaged."""
    if not on(moment, access="open"):
        return plan
    damaged = tuple(Send(data) for data in damage(records(plan)))
    return (*damaged, *(step for step in plan if not isinstance(step, Send)))


def fact(record: bytes) -> dict[str, Json]:
    """What a record says; nothing when it is not a record."""
    try:
        value = msgspec.json.decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def message(record: bytes) -> dict[str, Json]:
    """The message of a row; nothing for any other record."""
    found = fact(record)
    return found.get("message", {}) if found.get("fact") == "row" else {}


def row(moment: Moment, message: Message | dict[str, Json]) -> bytes:
    """A record of a row of the session that is worked on."""
    session = moment.call.session or "main"
    return msgspec.json.encode({"fact": "row", "session": session, "message": message}) + b"\n"


def rows(found: Records) -> list[int]:
    """The places of the rows among the records."""
    return [place for place, record in enumerate(found) if message(record)]
