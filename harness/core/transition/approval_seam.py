"""The approval seam of the transition: what the user answers when the agent asks about a call.

A tool without a script of answers is allowed. A question that was answered gets the same answer
again, also after a restart: the user has decided, and a second question changes nothing. An agent
that gave up the wait gets it when it asks again, at the time at which the user has answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.scenario.scenario import ApprovalTurn, ToolScript
from harness.core.transition.tool_seam import last_uses
from harness.core.values.calls import Approval, ApprovalRequest, Call, ToolRequest
from harness.core.values.plans import Answer, Plan, Step, Wait


def of_its_call(
    history: History,
    request: ApprovalRequest,
    session: str,
    meant: Callable[[ToolRequest, str], ToolRequest],
) -> ApprovalRequest:
    """The question with the tool, the id and the input of the call that it is about.

    A plain channel may have other ids, and may show the input in the words of its question alone:
    over ACP some agents leave out `rawInput`.
    """
    uses = {use.id: use.input for use in last_uses(history, session)} if request.plain else {}
    is_own = request.plain and request.id not in uses
    call = meant(ToolRequest("" if is_own else request.id, request.name, request.input), session)
    shown = uses.get(call.id) if request.plain and request.input is None else request.input
    return msgspec.structs.replace(request, id=call.id, name=call.name, input=shown)


def answer_approval(
    tools: Mapping[str, ToolScript], past: Past, call: Call, request: ApprovalRequest
) -> tuple[Plan, int | None]:
    """The plan for a question, and the index of the answer's turn."""
    if (known := _known(past, call.session, request)) is not None:
        answer, comes_ms = known
        return _after(comes_ms - call.at_ms, answer), None
    script = tools[request.name].approval if request.name in tools else ()
    if not script:
        return (Answer(Approval(request.id, input=request.input)),), None
    last = past.last_played.get(f"approval:{request.name}", -1)
    index = min(last + 1, len(script) - 1)
    wait_ms = int(script[index].after_s * 1000)
    return _after(wait_ms, _approval(script[index], request)), index


def as_asked(plan: Plan, asked: str, id: str) -> Plan:
    """The plan as the agent gets it: an answer has the id of its question, and may name no call.

    A model may give an empty id. An agent that asks with it takes an answer with another id for
    that of another call, and asks again.
    """
    return tuple(_named(step, asked, id) for step in plan) if asked != id else plan


def _named(step: Step, asked: str, id: str) -> Step:
    if isinstance(step, Answer) and isinstance(step.value, Approval) and step.value.id == id:
        return Answer(msgspec.structs.replace(step.value, id=asked))
    return step


def _after(wait_ms: int, said: Approval) -> Plan:
    return (Wait(wait_ms), Answer(said)) if wait_ms > 0 else (Answer(said),)


def _approval(turn: ApprovalTurn, request: ApprovalRequest) -> Approval:
    """The user's answer to one question."""
    # The answer of a plain channel belongs to its question and names no call.
    name = request.id if request.plain else turn.names or request.id
    always = turn.answer == "always"
    if turn.answer == "expire":
        return Approval(name, "expired", reason=turn.reason)
    if request.plain and turn.input is not msgspec.UNSET:
        return Approval(name, "deny")  # the user would allow another input, and cannot say so
    # A plain channel carries a yes or a no: to judge whether its reason reached the model would
    # blame the agent for what it was never told.
    if turn.answer == "deny":
        return Approval(name, "deny", reason="" if request.plain else turn.reason)
    given = request.input if turn.input is msgspec.UNSET else turn.input
    return Approval(name, "allow", given, turn.reason, always)


def _known(past: Past, session: str, request: ApprovalRequest) -> tuple[Approval, int] | None:
    """The user's answer to this question before, or the allowance of each call of the tool, and
    when it comes."""
    if (same := past.decisions.of_question(session, request)) is not None:
        return msgspec.convert(same[0], Approval), same[1]
    if (each := past.decisions.of_tool(session, request.name)) is not None:
        return Approval(request.id, input=request.input, always=True), each[1]
    return None
