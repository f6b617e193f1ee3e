"""The moments of a fault: the call, the plan before it, and the past, on every seam.

Tables index them by small numbers, the simplest first. The provider writes the answers' bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import NamedTuple

import msgspec
from hypothesis import strategies as st

from harness import providers
from harness.core.history.past import Past
from harness.core.transition.ports import Moment, Reading
from harness.core.values.calls import (
    Approval,
    ApprovalRequest,
    Call,
    Inbound,
    InboxRequest,
    ModelRequest,
    OutboxRequest,
    ProviderRequest,
    Request,
    Seam,
    StoreRequest,
    ToolRequest,
)
from harness.core.values.draws import Draws
from harness.core.values.messages import (
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.plans import (
    Accepted,
    Answer,
    ApiError,
    Close,
    Delivered,
    Effect,
    Facts,
    Kept,
    Plan,
    Raise,
    Reply,
    ToolAnswer,
    Value,
    Wait,
)
from harness.faults import Fault

CALL = ToolUse("toolu_1", "ping", {"path": "a/b", "n": 3, "note": "wörld"})
TOOLS = (ToolSpec("ping", "Says pong.", {"type": "object", "properties": {}}),)

REPLIES: tuple[Reply | ApiError, ...] = (
    Reply((Text("Hello."),)),
    Reply((Text("One moment."), CALL), "tool_use"),
    Reply((Thinking("hm"), Text("Hello, wörld. " * 20))),
    Reply((CALL, ToolUse("toolu_2", "ping", {})), "tool_use"),
    Reply((Text("cut"),), "max_tokens", {"output_tokens": 7}),
    Reply(()),
    ApiError(529, "overloaded_error", "Overloaded"),
    ApiError(400, "invalid_request_error", "no", {"x-should-retry": "false"}),
)
TALKS: tuple[tuple[Message, ...], ...] = (
    (user("Hello."),),
    (user("Look."), assistant("One moment.", CALL), results(ToolResult("toolu_1", "pong"))),
    (user("Hello."), assistant("Hello."), user("And now?")),
    (),
)


class FaultCase(NamedTuple):
    """A moment, and the plan that the fault gets."""

    moment: Moment
    plan: Plan


class _Asked(NamedTuple):
    """A request, the other fields of its call, and the plan without the fault."""

    request: Request
    plan: Plan
    messages: Sequence[Message] = ()


def cases(fault: Fault) -> st.SearchStrategy[FaultCase]:
    """Moments on the seams of a fault, on each of its wires."""
    wires = fault.wires or providers.names()
    tables = [
        (wire, seam, _asked(wire, seam, fault.stage)) for wire in wires for seam in fault.seams
    ]
    places = [(wire, seam, asked) for wire, seam, table in tables for asked in table]
    return st.builds(
        _case,
        st.sampled_from(places),
        n=st.integers(1, 4),
        seed=st.integers(0, 3),
        firing=st.integers(1, 3),
        timeout=st.sampled_from([None, 60_000]),
    )


def _case(
    place: tuple[str, Seam, _Asked], n: int, seed: int, firing: int, timeout: int | None
) -> FaultCase:
    wire, seam, asked = place
    key = f"main/{seam}#{n}"
    is_model = seam == "model"
    call = Call(
        key, seam, n, "main", 1, 1_000 * n, asked.request, messages=asked.messages,
        system="Be kind." if is_model else "", tools=TOOLS if is_model else (),
        timeout_ms=timeout, tokens=100 * len(asked.messages),
    )  # fmt: skip
    provider = providers.by_name(wire)
    moment = Moment(
        call, _past(call), Draws(seed), firing, wire, provider.refusals(), provider.traits()
    )
    return FaultCase(moment, deepcopy(asked.plan))


def _past(call: Call) -> Past:
    """The past that a fault may count: the calls before this one, in an open turn."""
    past = Past()
    past.see_called("inbox#1", "inbox", "main", InboxRequest())
    inbound = msgspec.to_builtins(Inbound("m1", text="Hello."))
    past.see_answered("inbox#1", "inbox", value=inbound)
    for n in range(1, call.n):
        past.see_called(f"main/{call.seam}#{n}", call.seam, "main", call.request, at_ms=1_000 * n)
        past.see_answered(f"main/{call.seam}#{n}", call.seam)
    past.see_called(call.key, call.seam, "main", call.request, at_ms=call.at_ms)
    return past


@cache
def _asked(wire: str, seam: Seam, stage: str) -> tuple[_Asked, ...]:
    if seam == "model":
        return tuple(_model(wire, stage))
    return tuple(_Asked(request, plan) for request in _REQUESTS[seam] for plan in _PLANS[seam])


def _model(wire: str, stage: str) -> list[_Asked]:
    return [
        _Asked(ModelRequest("m", (), stream=stream, tools_offered=True), plan, talk)
        for stream in (False, True)
        for place, value in enumerate(REPLIES)
        for plan in _plans(wire, value, stage, stream)
        for talk in (TALKS[place % len(TALKS)],)
    ]


def _plans(wire: str, value: Reply | ApiError, stage: str, stream: bool) -> list[Plan]:
    """The plans of an answer for a fault of a stage: complete, delayed, or broken off."""
    whole: Plan = (Answer(value),)
    if stage == "bytes":
        reading = Reading("m", (), 0, (), stream=stream)
        whole = providers.by_name(wire).write(value, reading, "main/model#1", Draws(1))
    half = whole[: (len(whole) + 1) // 2]
    return [whole, (Wait(1_000), *whole), (*half, Close(reset=True)), (Raise("connect"),)]


_READS = ("pending", "load", "rows")
_WRITES = ("seed", "accept", "append", "begin", "reply", "delivered", "summarise")

_REQUESTS: dict[Seam, tuple[Request, ...]] = {
    "tool": (ToolRequest("toolu_1", "ping", {"path": "a/b"}), ToolRequest("toolu_2", "look_up")),
    "approval": (ApprovalRequest("toolu_1", "ping", {"path": "a/b"}),),
    "inbox": (InboxRequest(), InboxRequest(poll=True)),
    "outbox": (OutboxRequest("final", "Hello.", "m1"), OutboxRequest("notice", "Wait.")),
    "store": (
        StoreRequest("open", access="open", store="sqlite"),
        *(StoreRequest(name, access="read", store="sqlite") for name in _READS),
        *(StoreRequest(name, ("d1",), store="jsonl") for name in _WRITES),
    ),
    "file": tuple(StoreRequest("file", store=how) for how in ("append", "rewrite", "replace")),
    "provider": (ProviderRequest("count_tokens", "m", 12), ProviderRequest("models")),
}

_VALUES: dict[Seam, tuple[Value, ...]] = {
    "tool": (
        ToolAnswer("pong"),
        ToolAnswer([{"type": "text", "text": "pöng"}]),
        ToolAnswer("no", is_error=True),
    ),
    "approval": (Approval("toolu_1", input={"path": "a/b"}), Approval("toolu_1", "deny")),
    "inbox": (Delivered(Inbound("m1", text="Hello.")), Delivered(None)),
    "outbox": (Accepted(),),
    "store": (Kept(), Kept("unsynced")),
    "file": (Kept(),),
    "provider": (Facts({"input_tokens": 12}), ApiError(529, "overloaded_error", "Overloaded")),
}

_PLANS: dict[Seam, tuple[Plan, ...]] = {
    seam: (
        *((Answer(value),) for value in values),
        (Effect("mail", "k1"), Wait(2_000), Answer(values[0])),
        (Raise("tool" if seam == "tool" else "connect", "no"),),
    )
    for seam, values in _VALUES.items()
}
"""The plans for a fault on another seam than the model's: an answer, a slow answer, a failure."""
