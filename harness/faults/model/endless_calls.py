"""Calls that go on and on: the same, the same few, ever new ones.

They call the scenario's tools, and the agent's own ones only where it offers none of those.
Armed `often: forever` they end only where no tools are offered: there the script speaks again.
`changing_result` changes a tool's answer, because the result tells polling from a loop.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import ToolUse
from harness.core.values.plans import Answer, Plan, ToolAnswer
from harness.faults.shared.replies import call_of, calling, made_call, new_id, tool_named, varied

STAGE = "value"
SEAMS = {"changing_result": ("tool",)}
# A tool that a scenario has, which no type gives; fewer calls than usual, for the limits of a run.
DRAWN = {"spawns_itself": ({}, {"tool": "ping"}), "parallel_calls": ({"count": 20},)}
Many = Annotated[int, msgspec.Meta(ge=2, le=100)]

Period = Annotated[int, msgspec.Meta(ge=2, le=4)]


def identical_call(moment: Moment, plan: Plan) -> Plan:
    """The last call of the conversation again, with the same arguments."""
    return calling(moment, plan, *call_of(moment))


def failed_call_again(moment: Moment, plan: Plan) -> Plan:
    """The last call that brought an error again, as it was; nothing before a call has failed.

    Some agents tell of an error in words alone, so a call has failed too if its tool says so.
    """
    messages, past = moment.call.messages, moment.past
    failed = {r.id for m in messages for r in m.tool_results if r.is_error} | past.failed
    ran = past.ran.get(moment.call.session)
    made = [call for m in messages for call in m.tool_uses if call.id in failed]
    if ran is not None and ran.id in failed and not made:
        made = [ToolUse(ran.id, ran.name, ran.input)]
    again = [msgspec.structs.replace(call, id=new_id(moment)) for call in made[-1:]]
    return calling(moment, plan, *again)


def cycle_of_calls(moment: Moment, plan: Plan, *, period: Period = 2) -> Plan:
    """A few calls in turn, A B A B: `period` of them, of different tools or arguments."""
    tools = moment.tools
    if not tools:
        return plan
    calls = [made_call(moment, tools[n % len(tools)], n) for n in range(period)]
    if any(calls[0] == msgspec.structs.replace(c, id=calls[0].id) for c in calls[1:]):
        return plan
    return calling(moment, plan, calls[moment.call.n % period])


def varying_arguments(moment: Moment, plan: Plan) -> Plan:
    """The same tool with a counter in its arguments, each time another one."""
    number = moment.call.n
    calls = [
        ToolUse(new_id(moment, number), call.name, varied(call.input, number))
        for call in _with_arguments(moment)
    ]
    return calling(moment, plan, *calls)


def identical_calls_in_one_reply(moment: Moment, plan: Plan, *, count: Many = 10) -> Plan:
    """One reply makes the same call `count` times, each with its own id."""
    made = [
        msgspec.structs.replace(call, id=new_id(moment, number))
        for call in call_of(moment)
        for number in range(count)
    ]
    return calling(moment, plan, *made)


def parallel_calls(moment: Moment, plan: Plan, *, count: Many = 20) -> Plan:
    """One reply makes `count` different calls at once, of the tools in turn."""
    tools = moment.tools
    made = [made_call(moment, tools[n % len(tools)], n) for n in range(count) if tools]
    return calling(moment, plan, *made)


def endless_new_calls(moment: Moment, plan: Plan) -> Plan:
    """Each reply calls the next tool with arguments not given before, and none is an answer."""
    tools = moment.tools
    number = moment.call.n
    made = [made_call(moment, tools[number % len(tools)], number)] if tools else []
    return calling(moment, plan, *made)


def says_it_stops(
    moment: Moment, plan: Plan, *, text: str = "You are right, I will stop repeating this now."
) -> Plan:
    """The text says that the model stops, and after it stands the same call again."""
    return calling(moment, plan, *call_of(moment), text=text)


def calls_after_final(moment: Moment, plan: Plan) -> Plan:
    """The model had given its final text; asked again, by a hook or the user, it calls tools."""
    said = [m for m in moment.call.messages if m.role == "assistant"]
    if not said or said[-1].tool_uses:
        return plan
    return calling(moment, plan, *call_of(moment), text="One more thing.")


def spawns_itself(
    moment: Moment,
    plan: Plan,
    *,
    tool: str = "task",
    count: Annotated[int, msgspec.Meta(ge=1, le=5)] = 1,
) -> Plan:
    """The tool that starts a sub-agent is called, `count` times at once; a child does the same."""
    spawner = tool_named(moment, tool)
    made = [made_call(moment, spawner, n) for n in range(count)] if spawner else []
    return calling(moment, plan, *made)


def _with_arguments(moment: Moment) -> list[ToolUse]:
    """A call whose arguments can be varied."""
    offered = (made_call(moment, tool) for tool in moment.tools)
    calls = [*call_of(moment), *offered]
    return [call for call in calls if varied(call.input, 1) != call.input][:1]


Polls = Annotated[int, msgspec.Meta(ge=1, le=1000)]


def changing_result(moment: Moment, plan: Plan, *, polls: Polls = 5) -> Plan:
    """The first `polls` answers of a tool say that the job is not done, each how far it is."""
    if moment.call.seam != "tool" or moment.call.n > polls:
        return plan
    return (Answer(ToolAnswer(f"pending: {moment.call.n} of {polls + 1}")),)
