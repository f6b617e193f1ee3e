"""The approval seam of the transition: what the user answers when the agent asks about a call.

A tool without a script of answers is allowed. A question that was answered gets the same answer
again at once, also after a restart: the user has decided, and a second question changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.scenario.scenario import ApprovalTurn, ToolScript
from harness.core.values.calls import Approval, ApprovalRequest
from harness.core.values.messages import canonical
from harness.core.values.plans import Answer, Plan, Wait


def answer_approval(
    tools: Mapping[str, ToolScript], history: History, session: str, request: ApprovalRequest
) -> tuple[Plan, int | None]:
    """The plan for a question, which is not recorded yet, and the index of the answer's turn."""
    if (known := _known(history, session, request)) is not None:
        return (Answer(known),), None
    script = tools[request.name].approval if request.name in tools else ()
    if not script:
        return (Answer(Approval(request.id, input=request.input)),), None
    last = history.past.last_played.get(f"approval:{request.name}", -1)
    index = min(last + 1, len(script) - 1)
    wait_ms = int(script[index].after_s * 1000)
    answer = Answer(_approval(script[index], request))
    return ((Wait(wait_ms), answer) if wait_ms else (answer,)), index


def _approval(turn: ApprovalTurn, request: ApprovalRequest) -> Approval:
    """The user's answer to one question."""
    name, always = turn.names or request.id, turn.answer == "always"
    if turn.answer == "expire":
        return Approval(name, "expired", reason=turn.reason)
    if turn.answer == "deny":
        return Approval(name, "deny", reason=turn.reason)
    given = request.input if turn.input is msgspec.UNSET else turn.input
    return Approval(name, "allow", given, turn.reason, always)


def _known(history: History, session: str, request: ApprovalRequest) -> Approval | None:
    """The user's earlier answer to this question, or the allowance of each call of the tool."""
    asked: dict[str, ApprovalRequest] = {}
    found: Approval | None = None
    for event in history.events:
        if isinstance(event, Called) and isinstance(event.request, ApprovalRequest):
            if event.session == session and event.request.name == request.name:
                asked[event.key] = event.request
        elif isinstance(event, Answered) and event.key in asked and event.value:
            before, said = asked[event.key], msgspec.convert(event.value, Approval)
            if said.id != before.id or said.answer == "expired":
                continue
            if canonical(before) == canonical(request):
                found = said
            elif said.always:
                found = Approval(request.id, input=request.input, always=True)
    return found
