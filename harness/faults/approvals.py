"""Faults of the question to the user: the answer is late, is about another call, or never comes.

An answer that is bent here decides nothing, so the same question asked again gets the next one of
the script. An agent that runs the call all the same runs what the user did not allow.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import Approval, ApprovalRequest
from harness.core.values.plans import Answer, Kill, Plan, Raise, Wait
from harness.core.values.strict import Seconds
from harness.faults.shared.pieces import ms

STAGE = "value"
SEAMS = ("approval",)
KILLS = ("killed_while_open",)


def late(moment: Moment, plan: Plan, *, wait_s: Seconds = 3600.0) -> Plan:
    """The user answers `wait_s` seconds later; escalating, twice as many each time."""
    return (Wait(ms(wait_s * moment.harder)), *plan)


def expires(moment: Moment, plan: Plan, *, wait_s: Seconds = 900.0) -> Plan:
    """The user does not answer for `wait_s` seconds, and the question ends as expired."""
    return (Wait(ms(wait_s)), Answer(Approval(_id(moment), "expired")))


def about_another_call(moment: Moment, plan: Plan) -> Plan:
    """The user allows another call, which waits elsewhere: the answer names that one."""
    if _is_plain(moment):
        return plan
    return (Answer(Approval("call_of_another")),)


def answered_twice(moment: Moment, plan: Plan) -> Plan:
    """The answer to the question before comes a second time, in place of the one to this."""
    before = moment.past.decisions.last.get(moment.call.session)
    if before is None or before["id"] == _id(moment) or _is_plain(moment):
        return plan
    return (Answer(msgspec.convert(before, Approval)),)


def channel_fails(moment: Moment, plan: Plan, *, wait_s: Seconds = 30.0) -> Plan:
    """The channel to the user fails after `wait_s` seconds: the question has no answer."""
    if _is_plain(moment):  # an editor whose user is gone closes the question
        return expires(moment, plan, wait_s=wait_s)
    return (Wait(ms(wait_s)), Raise("timeout", "the channel to the user does not answer"))


def killed_while_open(moment: Moment, plan: Plan, *, answered: bool = False) -> Plan:
    """The agent is killed while the question is open; `answered`: when the user has decided, and
    the agent does not know."""
    return (*plan, Kill()) if answered else (Kill(),)


def _is_plain(moment: Moment) -> bool:
    """Whether the channel ties each answer to its question, as JSON-RPC does: none is misplaced."""
    request = moment.call.request
    return isinstance(request, ApprovalRequest) and request.plain


def _id(moment: Moment) -> str:
    request = moment.call.request
    return request.id if isinstance(request, ApprovalRequest) else ""
