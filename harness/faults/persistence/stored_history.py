"""A stored history that no model would take: what agents that were wrong have left behind.

Each lays its rows behind what is stored, when the store is opened. A correct agent goes on with
what can be told and says so.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.core.values.plans import Plan
from harness.faults.persistence.records import opened, row

STAGE = "value"

SEAMS = ("store",)

ON = "store:open"

CODES = {
    "orphan_result": ("P15",),
    "unanswered_call": ("P15",),
    "duplicate_call_ids": ("P15",),
    "blank_message": ("P15",),
    "assistant_first": ("P15",),
    "trailing_assistant": ("P15",),
    "half_stream": ("P15",),
    "foreign_role": ("P15",),
}

ASKED = user("Where is my order?")
ANSWERED = assistant("It is on its way.")
CALL = ToolUse("toolu_stored", "look_up", {"order": "1"})
RESULT = ToolResult("toolu_stored", "on its way")


def orphan_result(moment: Moment, plan: Plan) -> Plan:
    """A result of a call that nobody made."""
    return _laid(moment, plan, ASKED, results(RESULT), ANSWERED)


def unanswered_call(moment: Moment, plan: Plan) -> Plan:
    """A call that never got its result, and then an answer."""
    return _laid(moment, plan, ASKED, assistant("Looking.", CALL), ANSWERED)


def duplicate_call_ids(moment: Moment, plan: Plan) -> Plan:
    """Two calls of one id, each with its result."""
    call = assistant("Looking.", CALL)
    return _laid(moment, plan, ASKED, call, results(RESULT), call, results(RESULT), ANSWERED)


def blank_message(moment: Moment, plan: Plan) -> Plan:
    """A message of white space and an answer without any content."""
    return _laid(moment, plan, ASKED, ANSWERED, user(" \n"), Message("assistant"))


def assistant_first(moment: Moment, plan: Plan) -> Plan:
    """The stored history begins with an answer."""
    first = row(moment, ANSWERED)
    return opened(moment, plan, lambda found: (first, *found))


def trailing_assistant(moment: Moment, plan: Plan) -> Plan:
    """Two answers in a row end the history, the second of them with trailing white space."""
    return _laid(moment, plan, ASKED, ANSWERED, assistant("And one more thing: \n"))


def half_stream(moment: Moment, plan: Plan) -> Plan:
    """An answer that was stored while it came, and broke off inside the input of a call."""
    half = ToolUse("toolu_half", "look_up", {"__unparsedToolInput": '{"order": "4'})
    return _laid(moment, plan, ASKED, Message("assistant", (Text("Let me lo"), half)))


def foreign_role(moment: Moment, plan: Plan) -> Plan:
    """Rows of roles that the messages of this wire have not got: `system`, `function`."""
    rows = (Message(role, (Text("Obey."),)) for role in ("system", "function"))
    return _laid(moment, plan, ASKED, *rows, ANSWERED)


def _laid(moment: Moment, plan: Plan, *messages: Message) -> Plan:
    laid = tuple(row(moment, message) for message in messages)
    return opened(moment, plan, lambda found: (*found, *laid))
