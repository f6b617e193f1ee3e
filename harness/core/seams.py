"""What the transition needs seam by seam: limits, a tool's plan, and the record of an answer.

Hitting a limit answers in the seam's own type, so that an agent meets it as its provider or tool
would say it; an agent that goes on calling all the same is stopped.
"""

from __future__ import annotations

from itertools import takewhile

import msgspec

from harness.core.calls import Call, ToolRequest
from harness.core.history import History
from harness.core.messages import Json, Message
from harness.core.plans import (
    Accepted,
    Answer,
    ApiError,
    Close,
    Delivered,
    Effect,
    Kill,
    Outcome,
    Plan,
    Raise,
    Reply,
    Send,
    Step,
    ToolAnswer,
    Wait,
    is_whole,
    summary,
)
from harness.core.scenario import Limits, Scenario, ToolTurn
from harness.core.script import ToolScripts, tool_answer

STOP = Raise("stop", "loop-harness: the run is over")

LIMIT_ANSWERS_MAX = 20
"""How often a limit is answered before an agent that goes on calling is stopped."""


def limit_hit(limits: Limits, history: History, call: Call) -> str:
    """The name of the limit that the call is over, "" when it is within all."""
    if call.at_ms > limits.virtual_s * 1000:
        return "virtual_s"
    name = f"{call.seam}_calls"
    most: int | None = getattr(limits, name, None)
    return name if most is not None and history.past.calls[call.seam] > most else ""


def limit_text(name: str, limits: Limits) -> str:
    """A limit in words."""
    return f"loop-harness: the limit {name} = {getattr(limits, name):g} is reached"


def over_limit(name: str, limits: Limits, history: History) -> ApiError | None:
    """The provider's answer past a limit; None once the agent has been told often enough."""
    if history.past.limit_answers >= LIMIT_ANSWERS_MAX:
        return None
    headers = {"x-should-retry": "false"}
    return ApiError(400, "invalid_request_error", limit_text(name, limits), headers)


def answer_tool(
    scenario: Scenario, tools: ToolScripts, history: History, call: Call
) -> tuple[Plan, int | None, str]:
    """A tool's plan, the index of its turn, and the code of what went wrong on our side."""
    request = call.request
    assert isinstance(request, ToolRequest)
    limit = limit_hit(scenario.limits, history, call)
    if limit and history.past.limit_answers >= LIMIT_ANSWERS_MAX:
        return (STOP,), None, f"limit.{limit}"
    if limit:
        return _error(limit_text(limit, scenario.limits)), None, f"limit.{limit}"
    if not tools.known(request.name):
        return (
            _error(f"loop-harness: no tool {request.name!r} in the scenario"),
            None,
            "tool.unknown",
        )
    due = tools.due(request.name, history.past)
    if due is None:
        text = f"loop-harness: the script of tool {request.name!r} has ended"
        return _error(text), None, "script.exhausted"
    turn, index = due
    return tool_plan(turn, scenario.limits), index, ""


def _error(text: str) -> Plan:
    return (Answer(ToolAnswer(text, is_error=True)),)


def tool_plan(turn: ToolTurn, limits: Limits) -> Plan:
    """A tool's turn as steps: the effect first, so that it may happen and the answer be lost."""
    steps: list[Step] = [Effect(turn.effect, turn.key)] if turn.effect else []
    if turn.hang is True:
        return (*steps, Wait(int(limits.virtual_s * 1000) + 1), STOP)
    if turn.hang:
        steps.append(Wait(int(turn.hang * 1000)))
    if turn.raises is not None:
        return (*steps, Raise("tool", turn.raises))
    return (*steps, Answer(tool_answer(turn)))


def record_answer(
    history: History,
    call: Call,
    plan: Plan,
    *,
    turn: int | None = None,
    error: str = "",
    said: Reply | ApiError | None = None,
    faults: tuple[str, ...] = (),
    **known: Json,
) -> Plan:
    """Record a plan as the answer to a call, effects included; return what the door carries out.

    `known` are fields of the event that the caller knows better than the plan shows.
    """
    for step in takewhile(lambda step: not isinstance(step, Close | Raise | Kill), plan):
        if isinstance(step, Effect):
            history.effect(
                at_ms=call.at_ms, session=call.session, turn=call.turn, key=call.key,
                name=step.name, idempotency_key=step.key,
            )  # fmt: skip
    fields = _said(history, call, plan, said) | known
    history.answered(
        at_ms=call.at_ms, key=call.key, seam=call.seam, script_turn=turn,
        steps=summary(plan), faults=faults, error=error, **fields,
    )  # fmt: skip
    return plan


def _said(
    history: History, call: Call, plan: Plan, said: Reply | ApiError | None
) -> dict[str, Json]:
    """The fields of the answered event that follow from what is said."""
    value = next((s.value for s in plan if isinstance(s, Answer)), None)
    fields: dict[str, Json] = {"session": call.session, "turn": call.turn}
    fields["complete"] = is_whole(plan)
    fields["outcome"] = _outcome(plan, value, said)
    if call.seam == "model":
        return fields | _model_fields(history, call, plan, said)
    if isinstance(value, ToolAnswer):
        fields["value"] = msgspec.to_builtins(value)
    if isinstance(value, Delivered) and value.inbound is not None:
        fields |= {"value": msgspec.to_builtins(value.inbound), "session": value.inbound.session}
        opens = value.inbound.kind == "message"
        fields["turn"] = history.past.turn(value.inbound.session) + opens
    if call.seam == "outbox":
        fields["complete"] = isinstance(value, Accepted)
    return fields


def _model_fields(
    history: History, call: Call, plan: Plan, said: Reply | ApiError | None
) -> dict[str, Json]:
    head = next((s.head for s in plan if isinstance(s, Send) and s.head), None)
    fields: dict[str, Json] = {"status": head.status if head else None}
    fields["complete"] = isinstance(said, Reply) and is_whole(plan)
    if isinstance(said, Reply):
        blocks = history.note(Message("assistant", said.blocks), call.at_ms)
        fields |= {"blocks": blocks, "stop": said.stop, "usage": said.usage}
    return fields


def _outcome(plan: Plan, value: object, said: Reply | ApiError | None) -> Outcome:
    raised = next((s.error for s in plan if isinstance(s, Raise)), "")
    if raised == "timeout":
        return "timeout"
    refused = any(s.head.status >= 400 for s in plan if isinstance(s, Send) and s.head)
    failed = refused or isinstance(said, ApiError) or getattr(value, "is_error", False)
    return "error" if raised or failed or not is_whole(plan) else "ok"
