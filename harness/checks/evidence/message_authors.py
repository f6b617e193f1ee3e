"""Who wrote a message: people of a group chat, or the program in the user's name.

Some APIs take a `name` beside the role of a message. Several people may then speak in a row, so
rules about two speakers do not apply. If other messages of its side have a name, a message without
a name is from another speaker. A conversation of two in which the user has a name is not a group
chat.

Programs log the output of local commands, notices and interrupts as rows of the user. A request
merges such rows with the messages beside them. An answer that broke off, or that is an error, is
logged but not sent again.
"""

from __future__ import annotations

import re
from collections import Counter

from harness.core.history.exchanges import Node
from harness.core.history.trace import Trace
from harness.core.values.messages import Message, Opaque

_SIDES = frozenset({"user", "assistant"})


def group_chats(trace: Trace) -> frozenset[str]:
    """The sessions of a trace that are group chats."""
    speakers = {
        (exchange.called.session, node.side, _speaker(node))
        for exchange in trace.exchanges
        for node in exchange.added
        if node.side in _SIDES and not node.message.tool_results
    }
    sides = Counter((session, side) for session, side, _ in speakers)
    return frozenset(session for (session, _), count in sides.items() if count > 1)


def _speaker(node: Node) -> str:
    """The name beside the role of a message; "" without a name."""
    values = (b.value.get("name") for b in node.message.blocks if isinstance(b, Opaque))
    return next((value for value in values if isinstance(value, str)), "")


_BROKEN_OFF = frozenset({"aborted", "error"})
"""The stop reasons that programs log for an answer that they gave up."""

_BY_PROGRAM = re.compile(r"\s*(?:<[a-z][\w-]*>|Caveat: The messages below|# AGENTS\.md\b)")
"""The beginnings of rows that a program writes in the user's name."""

_INTERRUPT = re.compile(r"\s*(?:\[Request interrupted by user|<turn_aborted>)")
"""The beginnings of rows with which a user interrupts a request."""


def is_by_program(message: Message) -> bool:
    """Whether the program wrote a row of the user."""
    return _BY_PROGRAM.match(message.text) is not None or is_interrupt(message)


def is_interrupt(message: Message) -> bool:
    """Whether a row of the user is an interrupt."""
    return _INTERRUPT.match(message.text) is not None


def unsent_answers(trace: Trace) -> frozenset[int]:
    """The answers of a log that no request repeats, as ids of their messages. Where the requests
    were recorded as they were sent, they show it themselves."""
    return frozenset(
        id(exchange.reply)
        for exchange in trace.exchanges
        if exchange.answered is not None
        and (exchange.answered.outcome == "error" or exchange.answered.stop in _BROKEN_OFF)
    )


def is_one_message(node: Node, unsent: frozenset[int]) -> bool:
    """Whether a row of a log and the row before it form one message of a request. They do if one of
    them is not sent, the user's words follow results, or the program wrote one of them."""
    before = node.parent
    if before is None or not before.depth or node.side != before.side:
        return False
    if node.side == "assistant":
        return id(node.message) in unsent or id(before.message) in unsent
    behind = before.message.tool_results and not node.message.tool_results
    return bool(behind) or is_by_program(node.message) or is_by_program(before.message)
