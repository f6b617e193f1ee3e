"""Kills around a delivery: the reply is stored and not sent, or sent and not noted."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.calls import OutboxRequest
from harness.core.values.plans import Kill, Plan

STAGE = "value"

SEAMS = ("outbox",)

CODES = {"killed_before_delivery": ("P2",), "killed_after_delivery": ("P2",)}

KILLS = ("killed_before_delivery", "killed_after_delivery")


def killed_before_delivery(moment: Moment, plan: Plan) -> Plan:
    """The process is killed as it delivers a reply: the user has not got it."""
    return (Kill(),) if _ends_a_turn(moment) else plan


def killed_after_delivery(moment: Moment, plan: Plan) -> Plan:
    """The process is killed once a reply was delivered, and before it can note that it was."""
    return (*plan, Kill()) if _ends_a_turn(moment) else plan


def _ends_a_turn(moment: Moment) -> bool:
    request = moment.call.request
    return isinstance(request, OutboxRequest) and request.kind in ("final", "error", "notice")
