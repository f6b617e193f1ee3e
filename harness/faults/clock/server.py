"""The server's time is not ours: dates that have passed, or are far off, and things that expire."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Plan, Reply, Step, Wait
from harness.core.values.strict import Seconds
from harness.faults.http.said import error

STAGE = "value"

SEAMS = ("model",)

CODES = {"skewed_retry_date": ("K2",), "cache_expired": ("K8",)}

EPOCH_S = 1_767_225_600
"""What the wall clock shows at the start of a virtual run."""


def skewed_retry_date(
    moment: Moment, plan: Plan, *, wait_s: Seconds = 20.0, skew_s: float = -3600.0
) -> Plan:
    """A 429 whose `retry-after` is a date, `wait_s` seconds from now by the server's clock, which
    is `skew_s` seconds ahead of ours (negative: behind, so the date has passed)."""
    now_s = EPOCH_S + moment.call.at_ms / 1000 + skew_s
    headers = {"date": _date(now_s), "retry-after": _date(now_s + wait_s)}
    return error(moment, 429, "This request would exceed your rate limit", headers=headers)


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


def _date(seconds: float) -> str:
    """A date as headers have it, in English whatever the locale."""
    when = datetime.fromtimestamp(seconds, UTC)
    return f"{_DAYS[when.weekday()]}, {when:%d} {_MONTHS[when.month - 1]} {when:%Y %H:%M:%S} GMT"


def cache_expired(moment: Moment, plan: Plan, *, wait_s: Seconds = 301.0) -> Plan:
    """The answer takes longer than the prompt cache lives: nothing is read from the cache, all of
    it is written, and paid for, again."""
    expired = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 2048}
    return (Wait(int(wait_s * 1000)), *(_counted(step, expired) for step in plan))


def _counted(step: Step, usage: dict[str, int]) -> Step:
    if not isinstance(step, Answer) or not isinstance(step.value, Reply):
        return step
    reply = msgspec.structs.replace(step.value, usage={**step.value.usage, **usage})
    return Answer(reply)
