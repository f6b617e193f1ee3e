"""Gateway faults: messages come twice, late or unsent, replies fail, the agent dies.

Messages that a fault adds are due before the scenario's own. Their ids derive from the call's
number, unless they repeat an earlier message. An agent sees a cancel only when it looks
(`brief.cancelled`), so cancelling faults strike there.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from harness.core.scenario.scenario import SessionName
from harness.core.transition.ports import Moment
from harness.core.values.calls import Inbound, InboundKind, InboxRequest, OutboxRequest
from harness.core.values.plans import (
    Answer,
    Delivered,
    Head,
    Kill,
    Plan,
    Raise,
    Send,
    Wait,
    due_message,
)
from harness.core.values.strict import Count, FromOne, Seconds
from harness.faults.shared.pieces import ms

STAGE = {"killed_mid_answer": "bytes"}
SEAMS = {
    "*": ("inbox",),
    "delivery_times_out": ("outbox",),
    "flood_wait": ("outbox",),
    "confirmation_lost": ("outbox",),
    "final_fails": ("outbox",),
    "killed": ("model", "tool", "inbox", "outbox"),
    "poison_message": ("model", "tool", "inbox", "outbox"),
    "killed_mid_answer": ("model",),
}
# Smaller than usual: at its usual size it takes long, or exceeds the limits of a run.
# The second never: a scenario says what it expects, for its effect looks like the agent's act.
DRAWN = {"attachment_too_large": ({"characters": 50_000},), "session_key_collides": ()}
KILLS = ("killed", "poison_message", "killed_mid_answer")

Characters = Annotated[int, msgspec.Meta(ge=1, le=100_000_000)]


def redelivered(moment: Moment, plan: Plan, *, back: FromOne = 1) -> Plan:
    """A message comes again under its own id: a webhook is retried, two channels carry it.

    It is the one of `back` messages ago, answered or, after a kill, in the middle of its turn.
    """
    return _delivering(moment, plan, _former(moment, back))


def repeated_by_the_user(moment: Moment, plan: Plan) -> Plan:
    """The user says the same again: the text of the last message under a new id."""
    last = _former(moment)
    return _delivering(moment, plan, last and msgspec.structs.replace(last, id=_new_id(moment)))


def overtaken(moment: Moment, plan: Plan) -> Plan:
    """The message that is due was written before the last one, and overtaken by it on the way."""
    last, inbound = _former(moment), due_message(plan)
    if last is None or inbound is None or inbound.at_ms < last.at_ms:
        return plan
    return _changed(plan, at_ms=last.at_ms - 1_000)


def cancelled_between(moment: Moment, plan: Plan) -> Plan:
    """The user cancels and writes again at once: the cancel comes first, when its turn is over.

    It takes nothing back; the message after it is an ordinary turn. A reader that asks during the
    turn gets no such cancel.
    """
    if moment.past.comes_in_turn:
        return plan
    cancel = Inbound(_new_id(moment), _session(moment), kind="cancel")
    return _delivering(moment, plan, cancel)


def echoed(moment: Moment, plan: Plan) -> Plan:
    """The agent's own last words come back to it as a message: an echo, or another bot."""
    session = _session(moment)
    text = moment.past.said.get(session, "")
    return _delivering(moment, plan, Inbound(_new_id(moment), session, text)) if text else plan


def heartbeat(
    moment: Moment,
    plan: Plan,
    *,
    text: str = "[heartbeat] Check what is open. If nothing is, say so.",
    session: SessionName = "heartbeat",
) -> Plan:
    """A timer, a cron job or a stop hook asks the agent to go on, in a separate session."""
    return _delivering(moment, plan, Inbound(_new_id(moment), session, text))


def attachment_only(moment: Moment, plan: Plan) -> Plan:
    """The message was an attachment alone, and that is missing: its text is empty."""
    return _changed(plan, text="")


def attachment_too_large(moment: Moment, plan: Plan, *, characters: Characters = 2_000_000) -> Plan:
    """The message has a whole file pasted into it."""
    inbound = due_message(plan)
    return _changed(plan, text=f"{inbound.text}\n{'x' * characters}") if inbound else plan


def attachment_of_wrong_type(moment: Moment, plan: Plan) -> Plan:
    """The message holds a binary file that somebody took for text: NUL, half characters."""
    inbound = due_message(plan)
    return _changed(plan, text=f"{inbound.text}\n\u0000PNG\udcff\u2028\ufffe") if inbound else plan


def session_key_collides(moment: Moment, plan: Plan, *, session: SessionName = "elsewhere") -> Plan:
    """The message that is due comes under the key of another session."""
    return _changed(plan, session=session)


def _new_id(moment: Moment) -> str:
    return f"fault-{moment.call.n}"


def _session(moment: Moment) -> str:
    last = _former(moment)
    return last.session if last else "main"


def _taking_back(moment: Moment, plan: Plan, *, kind: InboundKind) -> Plan:
    """A template of presets: the user takes the turn back, or leaves."""
    if not _is_poll(moment):
        return plan
    call = moment.call
    inbound = Inbound(f"{kind}-{call.n}", call.session, kind=kind, at_ms=call.at_ms)
    return (Answer(Delivered(inbound)),)


def delivery_times_out(moment: Moment, plan: Plan, *, wait_s: Seconds = 30.0) -> Plan:
    """The channel does not answer, and nothing has arrived."""
    return (Wait(ms(wait_s)), Raise("timeout", "the channel does not answer"))


def flood_wait(moment: Moment, plan: Plan, *, retry_after: Seconds = 200.0) -> Plan:
    """The channel answers 429 and asks for a pause; escalating, for twice as long each time."""
    pause_s = f"{retry_after * moment.harder:g}"
    head = Head(429, {"content-type": "application/json", "retry-after": pause_s})
    body = {"error": f"Too Many Requests: retry after {pause_s}"}
    return (Send(msgspec.json.encode(body), head),)


def confirmation_lost(moment: Moment, plan: Plan) -> Plan:
    """What was said has arrived, and the channel's answer is lost: a time-out."""
    return (*plan, Raise("timeout", "the channel does not answer"))


def final_fails(moment: Moment, plan: Plan, *, message: str = "the chat is gone") -> Plan:
    """Parts of an answer have arrived; the final that is to end it does not."""
    request = moment.call.request
    is_final = isinstance(request, OutboxRequest) and request.kind == "final"
    return (Raise("delivery", message),) if is_final else plan


def killed(moment: Moment, plan: Plan, *, at: Literal["before", "after"] = "before") -> Plan:
    """The agent is killed at a call; `often` says how often, `limits.restarts` how often at most.

    `before`: nothing has happened, no reply was made and no tool has run. `after`: all has happened
    (a tool's effect, a billed reply, an arrived message), and the agent has not received the
    answer.
    """
    return (Kill(),) if at == "before" else (*plan, Kill())


def poison_message(moment: Moment, plan: Plan, *, message: str = "m1") -> Plan:
    """The agent dies whenever it works on the inbound message of that id (with `often`)."""
    call = moment.call
    return (Kill(),) if moment.past.open_inbound(call.session) == message else plan


def killed_mid_answer(moment: Moment, plan: Plan, *, after: Count = 3) -> Plan:
    """`after` events of a stream have come, then the agent is killed."""
    sends = [place for place, step in enumerate(plan) if isinstance(step, Send)]
    return plan if len(sends) <= after else (*plan[: sends[after]], Kill())


def _is_poll(moment: Moment) -> bool:
    """Whether the agent only looks for a cancel, in the middle of a turn."""
    return isinstance(moment.call.request, InboxRequest) and moment.call.request.poll


def _delivering(moment: Moment, plan: Plan, inbound: Inbound | None) -> Plan:
    """The plan with another message in place of the one that is due; as it is without one."""
    if inbound is None or _is_poll(moment):
        return plan
    inbound = msgspec.structs.replace(inbound, at_ms=moment.call.at_ms)
    return (Answer(Delivered(inbound)),)


def _changed(plan: Plan, **fields: object) -> Plan:
    """The plan with the message that is due made another; as it is at the inbox's end."""
    inbound = due_message(plan)
    if inbound is None or inbound.kind != "message":
        return plan
    made = msgspec.structs.replace(inbound, **fields)
    return tuple(Answer(Delivered(made)) if isinstance(s, Answer) else s for s in plan)


def _former(moment: Moment, back: int = 1) -> Inbound | None:
    """The message that came `back` messages ago; None where there were fewer."""
    messages = [m for m in moment.past.inbounds.values() if m.get("kind") in (None, "message")]
    return msgspec.convert(messages[-back], Inbound) if len(messages) >= back else None


def _message(moment: Moment, plan: Plan, *, text: str) -> Plan:
    """A template of presets: a message with this text comes before the one that is due.

    A queue offers what was not acknowledged before a restart first, and then what is new.
    """
    due = due_message(plan)
    if due is not None and due.attempt > 1:
        return plan
    return _delivering(moment, plan, Inbound(_new_id(moment), _session(moment), text))
