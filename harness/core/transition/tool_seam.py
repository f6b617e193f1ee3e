"""The tool seam of the transition: a scripted tool's plan, and the call that a run belongs to.

Some callers, such as MCP, know a tool's name and arguments, but no model call id. The run belongs
to the first unused call of the session's last answer with both; failing that, with the name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.scenario.scenario import Limits, Scenario, ToolTurn
from harness.core.scenario.script import ToolScripts, tool_answer
from harness.core.transition.limits import LIMIT_ANSWERS_MAX, STOP, limit_text
from harness.core.values.calls import Call, ToolRequest
from harness.core.values.draws import Draws
from harness.core.values.messages import ToolUse
from harness.core.values.plans import Answer, Effect, Plan, Raise, Step, ToolAnswer, Wait
from harness.core.values.tool_names import ToolNames


def answer_tool(
    scenario: Scenario, tools: ToolScripts, history: History, call: Call, limit: str
) -> tuple[Plan, int | None, str]:
    """A tool's plan, the index of its turn, and the code of what went wrong on our side.

    `limit` names the limit that the call is over, "" for none.
    """
    request = call.request
    assert isinstance(request, ToolRequest)
    if limit and history.past.limit_answers >= LIMIT_ANSWERS_MAX:
        return (STOP,), None, f"limit.{limit}"
    if limit:
        return _error(limit_text(limit, scenario.limits)), None, f"limit.{limit}"
    if not tools.known(request.name):
        text = f"loop-harness: no tool {request.name!r} in the scenario"
        return _error(text), None, "tool.unknown"
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


SPREAD_MS = 40
"""Within so many milliseconds the calls of one answer are answered, in an order that is drawn."""


def spread(plan: Plan, history: History, call: Call, draws: Draws) -> Plan:
    """The plan with a short wait before its answer, if the model asked for several calls at once.

    An agent that runs them side by side gets their answers in another order with another seed; one
    that runs them in turn waits a little. A plan that waits by itself stays as it is.
    """
    answer = plan[-1] if plan else None
    if not isinstance(answer, Answer) or any(isinstance(step, Wait) for step in plan):
        return plan
    if len(tuple(_last_uses(history, call.session))) < 2:
        return plan
    wait_ms = draws.random("arrival", call.key).randint(1, SPREAD_MS)
    return (*plan[:-1], Wait(wait_ms), answer)


def meant_call(history: History, names: ToolNames, request: ToolRequest, session: str) -> str:
    """The id of the model's call; a new one, `call_N`, where the model asked for none of it.

    An id that stands several times in the answer is open until so many calls of it have run.
    """
    past = history.past
    uses = list(_last_uses(history, session or past.working_session))
    asked = Counter(use.id for use in uses)
    ran = Counter(_runs_since_answer(history)) if len(asked) < len(uses) else Counter[str]()
    waiting = [
        use
        for use in uses
        if names.meant_by(use.name) == request.name
        and (use.id not in past.crossed or 0 < ran[use.id] < asked[use.id])
    ]
    found = [use for use in waiting if use.input == request.input] or waiting
    return found[0].id if found else f"call_{past.calls['tool'] + 1}"


def _runs_since_answer(history: History) -> Iterator[str]:
    """The ids of the calls of tools since the last answer of the model that asked for some."""
    for event in reversed(history.events):
        if isinstance(event, Answered) and event.seam == "model" and event.blocks:
            return
        if isinstance(event, Called) and isinstance(event.request, ToolRequest):
            yield event.request.id


def _last_uses(history: History, session: str) -> Iterator[ToolUse]:
    for event in reversed(history.events):
        if not isinstance(event, Answered) or not event.blocks:
            continue
        if event.seam == "model" and event.session == session:
            yield from history.messages[event.blocks].tool_uses
            return
