"""The inbox: messages that come again, from the wrong side, in the wrong order or unreadable."""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.scenario.scenario import SessionName
from harness.core.transition.ports import Moment
from harness.core.values.calls import Inbound
from harness.core.values.plans import Plan
from harness.core.values.strict import FromOne
from harness.faults.gateway.messages import changed, delivering, due, former

STAGE = "value"

SEAMS = ("inbox",)

CODES = {
    "redelivered": ("G1", "G3"),
    "repeated_by_the_user": ("G2",),
    "overtaken": ("G4",),
    "crowded": ("G4",),
    "cancelled_between": ("G6",),
    "echoed": ("G13",),
    "background_message": ("G14",),
    "heartbeat": ("G15",),
    "attachment_only": ("G17",),
    "attachment_too_large": ("G17",),
    "attachment_of_wrong_type": ("G17",),
    "session_key_collides": ("G18",),
}

Characters = Annotated[int, msgspec.Meta(ge=1, le=100_000_000)]


def redelivered(moment: Moment, plan: Plan, *, back: FromOne = 1) -> Plan:
    """A message comes again under its own id: a webhook is retried, two channels carry it.

    It is the one of `back` messages ago, answered or, after a kill, in the middle of its turn.
    """
    return delivering(moment, plan, former(moment, back))


def repeated_by_the_user(moment: Moment, plan: Plan) -> Plan:
    """The user says the same again: the text of the last message under a new id."""
    last = former(moment)
    return delivering(moment, plan, last and msgspec.structs.replace(last, id=_new_id(moment)))


def overtaken(moment: Moment, plan: Plan) -> Plan:
    """The message that is due was written before the last one, and overtaken by it on the way."""
    last, inbound = former(moment), due(plan)
    if last is None or inbound is None or inbound.at_ms < last.at_ms:
        return plan
    return changed(plan, at_ms=last.at_ms - 1_000)


def crowded(moment: Moment, plan: Plan, *, text: str = "Are you still there?") -> Plan:
    """While the agent was busy the user has written more: `often` so many messages come first."""
    return delivering(moment, plan, Inbound(_new_id(moment), _session(moment), text))


def cancelled_between(moment: Moment, plan: Plan) -> Plan:
    """The user cancels and writes anew at once: the cancel comes first, when its turn is over.

    It takes nothing back; the message behind it is an ordinary turn.
    """
    cancel = Inbound(_new_id(moment), _session(moment), kind="cancel")
    return delivering(moment, plan, cancel)


def echoed(moment: Moment, plan: Plan) -> Plan:
    """The agent's own last words come back to it as a message: an echo, or another bot."""
    session = _session(moment)
    text = moment.past.said.get(session, "")
    return delivering(moment, plan, Inbound(_new_id(moment), session, text)) if text else plan


def background_message(
    moment: Moment, plan: Plan, *, text: str = "[background task 7 has completed: exit code 0]"
) -> Plan:
    """A task in the background has ended, and its news is put in as a message of the user's."""
    return delivering(moment, plan, Inbound(_new_id(moment), _session(moment), text))


def heartbeat(
    moment: Moment,
    plan: Plan,
    *,
    text: str = "[heartbeat] Check what is open. If nothing is, say so.",
    session: SessionName = "heartbeat",
) -> Plan:
    """A timer, a cron job or a stop hook asks the agent to go on, in a session of its own."""
    return delivering(moment, plan, Inbound(_new_id(moment), session, text))


def attachment_only(moment: Moment, plan: Plan) -> Plan:
    """The message was an attachment alone, and that is missing: its text is empty."""
    return changed(plan, text="")


def attachment_too_large(moment: Moment, plan: Plan, *, characters: Characters = 2_000_000) -> Plan:
    """The message has a whole file pasted into it."""
    inbound = due(plan)
    return changed(plan, text=f"{inbound.text}\n{'x' * characters}") if inbound else plan


def attachment_of_wrong_type(moment: Moment, plan: Plan) -> Plan:
    """The message holds a binary file that somebody took for text: NUL, half characters."""
    inbound = due(plan)
    return changed(plan, text=f"{inbound.text}\n\u0000PNG\udcff\u2028\ufffe") if inbound else plan


def session_key_collides(moment: Moment, plan: Plan, *, session: SessionName = "elsewhere") -> Plan:
    """The message that is due comes under the key of another session."""
    return changed(plan, session=session)


def _new_id(moment: Moment) -> str:
    return f"fault-{moment.call.n}"


def _session(moment: Moment) -> str:
    last = former(moment)
    return last.session if last else "main"
