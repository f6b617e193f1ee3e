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
    if Effect in map(type, plan):
        _record_effects(history, call, plan)
    fields = {
        "session": call.session, "turn": call.turn, "at_ms": call.at_ms, "key": call.key,
        "seam": call.seam, "script_turn": turn, "faults": faults, "error": error,
        "steps": summary(plan),
    }  # fmt: skip
    if call.seam == "model":
        _add_reply(fields, history, plan, said)
    else:
        _add_value(fields, history, plan)
    fields.update(known)
    history.answered(**fields)
    return plan


def _record_effects(history: History, call: Call, plan: Plan) -> None:
    for step in takewhile(lambda step: not isinstance(step, Close | Raise | Kill), plan):
        if isinstance(step, Effect):
            history.effect(
                at_ms=call.at_ms, session=call.session, turn=call.turn, key=call.key,
                name=step.name, idempotency_key=step.key,
            )  # fmt: skip


def _add_reply(
    fields: dict[str, Json], history: History, plan: Plan, said: Reply | ApiError | None
) -> None:
    """What follows from the model's answer, and from how it leaves."""
    statuses, whole = _statuses(plan), is_whole(plan)
    fields["status"] = statuses[0] if statuses else None
    fields["outcome"] = _outcome(plan, whole, statuses, isinstance(said, ApiError))
    fields["complete"] = isinstance(said, Reply) and whole
    if isinstance(said, Reply):
        fields["blocks"] = history.note(Message("assistant", said.blocks), fields["at_ms"])
        fields["stop"], fields["usage"] = said.stop, said.usage


def _add_value(fields: dict[str, Json], history: History, plan: Plan) -> None:
    """What follows from the value that a tool, the inbox or the outbox answers."""
    value = next((s.value for s in plan if isinstance(s, Answer)), None)
    whole = fields["complete"] = is_whole(plan)
    failed = getattr(value, "is_error", False)
    fields["outcome"] = _outcome(plan, whole, _statuses(plan), failed)
    if isinstance(value, ToolAnswer):
        fields["value"] = msgspec.to_builtins(value)
    if isinstance(value, Delivered) and value.inbound is not None:
        session = fields["session"] = value.inbound.session
        fields["value"] = msgspec.to_builtins(value.inbound)
        fields["turn"] = history.past.turn(session) + (value.inbound.kind == "message")
    if fields["seam"] == "outbox":
        fields["complete"] = isinstance(value, Accepted)


def _statuses(plan: Plan) -> list[int]:
    return [s.head.status for s in plan if isinstance(s, Send) and s.head is not None]


def _outcome(plan: Plan, whole: bool, statuses: list[int], failed: bool) -> Outcome:
    if whole:
        return "error" if failed or max(statuses, default=0) >= 400 else "ok"
    raised = next((step.error for step in plan if isinstance(step, Raise)), "")
    return "timeout" if raised == "timeout" else "error"
