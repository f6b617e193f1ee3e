"""Faults on other seams, at the moments between storing and the rest.

A kill strikes between an effect and its row. The model's text holds odd line separators.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import OutboxRequest
from harness.core.values.messages import Text
from harness.core.values.plans import Effect, Kill, Plan, Reply
from harness.faults.shared.replies import rewritten

STAGE = "value"
SEAMS = {"*": ("outbox",), "killed_after_effect": ("tool",), "line_separators": ("model",)}
CODES = {
    "killed_before_delivery": ("P2",),
    "killed_after_delivery": ("P2",),
    "killed_after_effect": ("P3",),
    "line_separators": ("P6",),
}
KILLS = ("killed_before_delivery", "killed_after_delivery", "killed_after_effect")


def killed_before_delivery(moment: Moment, plan: Plan) -> Plan:
    """The process is killed as it delivers a reply: the user has not got it."""
    return (Kill(),) if _ends_a_turn(moment) else plan


def killed_after_delivery(moment: Moment, plan: Plan) -> Plan:
    """The process is killed once a reply was delivered, and before it can note that it was."""
    return (*plan, Kill()) if _ends_a_turn(moment) else plan


def _ends_a_turn(moment: Moment) -> bool:
    request = moment.call.request
    return isinstance(request, OutboxRequest) and request.kind in ("final", "error", "notice")


def killed_after_effect(moment: Moment, plan: Plan) -> Plan:
    """The tool does its work, and the process is killed before the result can be stored."""
    return (*(step for step in plan if isinstance(step, Effect)), Kill())


SEPARATORS = "\u2028\u2029\u0085\x0b\x0c\x1c"
"""What `str.splitlines` splits at, beside the line feed and the carriage return."""


def line_separators(moment: Moment, plan: Plan) -> Plan:
    """The model's text ends with each character that ends a line for some readers: U+2028, U+2029,
    U+0085, and control characters."""
    return rewritten(plan, _marked)


def _marked(reply: Reply) -> Reply:
    texts = [i for i, b in enumerate(reply.blocks) if isinstance(b, Text) and b.text.strip()]
    if not texts:
        return reply
    blocks = list(reply.blocks)
    last = blocks[texts[-1]]
    assert isinstance(last, Text)
    blocks[texts[-1]] = msgspec.structs.replace(last, text=f"{last.text}{SEPARATORS}end")
    return msgspec.structs.replace(reply, blocks=tuple(blocks))
