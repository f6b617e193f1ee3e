"""The tool seam of the transition: a scripted tool's plan, and the call that a run belongs to.

Some callers, such as MCP, know a tool's name and arguments, but no model call id. The run belongs
to the first unused call of the session's last answer with this name and these arguments, else with
this name.
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
    """Return a tool's plan, the index of its turn, and the code of an error of the harness.

    `limit` names the exceeded limit, "" for none.
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
    """A tool's turn as steps. The effect comes first, so that it remains if the answer is lost."""
    steps: list[Step] = [Effect(turn.effect, turn.key)] if turn.effect else []
    if turn.hang is True:
        return (*steps, Wait(int(limits.virtual_s * 1000) + 1), STOP)
    if turn.hang:
        steps.append(Wait(int(turn.hang * 1000)))
    if turn.raises is not None:
        return (*steps, Raise("tool", turn.raises))
    return (*steps, Answer(tool_answer(turn)))


SPREAD_MS = 40
"""The time, in milliseconds, within which the calls of one answer are answered, in a random
order."""


def spread(
    plan: Plan, history: History, call: Call, draws: Draws, *, at_once: bool = False
) -> Plan:
    """The plan with a short wait before its answer, if the model asked for several calls at once.

    An agent that runs them in parallel gets their answers in an order that depends on the seed. An
    agent that runs them one by one waits a little. A plan with its own wait stays unchanged.
    `at_once`: all waits are equal, so that the orders of the run decide in place of the seed.
    """
    answer = plan[-1] if plan else None
    if not isinstance(answer, Answer) or any(isinstance(step, Wait) for step in plan):
        return plan
    if len(last_uses(history, call.session)) < 2:
        return plan
    wait_ms = 1 if at_once else draws.random("arrival", call.key).randint(1, SPREAD_MS)
    return (*plan[:-1], Wait(wait_ms), answer)


def meant_call(history: History, names: ToolNames, request: ToolRequest, session: str) -> str:
    """The id of the model's call; a new id, `call_N`, if the model made no such call.

    Where no session is named, it may be a call of a sub-agent. An id that occurs several times in
    the answer is open until that many calls with it have run.
    """
    past = history.past
    sessions = (session,) if session else (past.working_session, *sorted(past.children))
    found = (_open_call(history, names, request, each) for each in sessions)
    return next(filter(None, found), f"call_{past.calls['tool'] + 1}")


def _open_call(history: History, names: ToolNames, request: ToolRequest, session: str) -> str:
    """The id of the call in the session's last answer, "" without one."""
    past, uses = history.past, last_uses(history, session)
    asked = Counter(use.id for use in uses)
    ran = Counter(_runs_since_answer(history)) if len(asked) < len(uses) else Counter[str]()
    waiting = [
        use
        for use in uses
        if names.meant_by(use.name) == request.name
        and (use.id not in past.crossed or 0 < ran[use.id] < asked[use.id])
    ]
    found = [use for use in waiting if use.input == request.input] or waiting
    return found[0].id if found else ""


def place_of(history: History, names: ToolNames, request: ToolRequest, session: str) -> str:
    """A text by which calls sort in the order of the model's answer, then by what they ask."""
    uses = last_uses(history, session or history.past.working_session)
    for place, use in enumerate(uses):
        by_input = names.meant_by(use.name) == request.name and use.input == request.input
        if use.id == request.id if request.id else by_input:
            return f"{place:06}"
    return f"{len(uses):06}/{request.name}/{request.input!r}"


def _runs_since_answer(history: History) -> Iterator[str]:
    """Yield the ids of the tool runs since the last model answer with tool calls."""
    for event in reversed(history.events):
        if isinstance(event, Answered) and event.seam == "model" and event.blocks:
            return
        if isinstance(event, Called) and isinstance(event.request, ToolRequest):
            yield event.request.id


def last_uses(history: History, session: str) -> tuple[ToolUse, ...]:
    """The calls of the session's last answer that says something."""
    said = history.last_said.get(session)
    return history.messages[said].tool_uses if said else ()
