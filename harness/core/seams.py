"""What the transition needs seam by seam: limits, and a tool's plan.

Hitting a limit answers in the seam's own type, so that an agent meets it as its provider or tool
would say it; an agent that goes on calling all the same is stopped.
"""

from __future__ import annotations

from harness.core.calls import Call, ToolRequest
from harness.core.history import History
from harness.core.plans import Answer, ApiError, Effect, Plan, Raise, Step, ToolAnswer, Wait
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
    return name if most is not None and history.past.calls.get(call.seam, 0) > most else ""


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
