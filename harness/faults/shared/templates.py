"""Templates of presets in several layers; nothing here is a fault.

`catalogue/presets.tsv` fixes their settings. A template of one layer is a `_name` in that layer.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Close, Head, Plan, Raise, Send, Wait
from harness.core.values.strict import Seconds
from harness.faults.shared import error_answers
from harness.faults.shared.pieces import ms


def error(
    moment: Moment,
    plan: Plan,
    *,
    status: int,
    message: str = "",
    type: str = "",
    headers: dict[str, str] | None = None,
    stated: bool = False,
) -> Plan:
    """An error of this status and cause, in the words and the envelope of the seam."""
    return error_answers.error(moment, status, message, type=type, headers=headers, stated=stated)


def answer(
    moment: Moment,
    plan: Plan,
    *,
    body: str,
    status: int = 200,
    content_type: str = "application/json",
) -> Plan:
    """An answer of these bytes."""
    return (Send(body.encode(), Head(status, {"content-type": content_type})),)


def raises(moment: Moment, plan: Plan, *, error: str, message: str = "") -> Plan:
    """Nothing is done, and the seam fails."""
    return (Raise(error, message),)


def hangs(moment: Moment, plan: Plan, *, wait_s: Seconds | None = None) -> Plan:
    """Nothing is answered for `wait_s` seconds (default: no end), then the connection ends."""
    return (Wait(ms(wait_s)), Close())


def closes(moment: Moment, plan: Plan, *, reset: bool = False) -> Plan:
    """The connection ends without an answer."""
    return (Close(reset),)
