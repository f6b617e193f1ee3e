"""Clock faults: time jumps, stands still, passes unseen, or differs on the server.

Faults that move the run's clocks need virtual time. The others change foreign times, or an overload
that depends on time and session.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from harness.core.scenario.scenario import SessionName
from harness.core.transition.ports import Moment
from harness.core.values.plans import Answer, Close, Jump, Plan, Reply, Send, ToolAnswer, Wait
from harness.core.values.strict import Count, Seconds, SecondsEitherWay
from harness.faults.shared.error_answers import error
from harness.faults.shared.pieces import FOREVER_MS, ms
from harness.faults.shared.replies import rewritten

STAGE = {"laptop_sleep": "bytes", "suspended": "bytes"}
SEAMS = {
    "jumps_forward": ("model", "tool", "inbox", "outbox", "store"),
    "jumps_back": ("model", "tool", "inbox", "outbox", "store"),
    "frozen": ("model", "tool", "inbox", "outbox", "store"),
    "lease_expired": ("tool",),
}
# A session that no type gives.
DRAWN: dict[str, tuple[dict[str, str], ...]] = {"overloaded_session": ({}, {"session": "side"})}
VIRTUAL = ("jumps_forward", "jumps_back", "frozen", "laptop_sleep", "suspended")


def jumps_forward(moment: Moment, plan: Plan, *, jump_s: Seconds = 3600.0) -> Plan:
    """The wall clock is set forward by `jump_s` seconds before the answer, as summer time or NTP
    does it; escalating, twice as far each time."""
    return (Jump(ms(jump_s * moment.harder)), *plan)


def jumps_back(moment: Moment, plan: Plan, *, jump_s: Seconds = 3600.0) -> Plan:
    """The wall clock is set back by `jump_s` seconds before the answer: what was stored has a time
    that is still to come; escalating, twice as far each time."""
    return (Jump(-ms(jump_s * moment.harder)), *plan)


def frozen(moment: Moment, plan: Plan) -> Plan:
    """The wall clock shows at each call what it showed at the one before, so that rows have equal
    times. To be armed for more than one call (`often: forever`)."""
    waited_ms = moment.call.at_ms - moment.past.previous_ms
    return (Jump(-waited_ms), *plan) if waited_ms > 0 else plan


def laptop_sleep(
    moment: Moment, plan: Plan, *, after: Count = 3, sleep_s: Seconds = 28_800.0
) -> Plan:
    """After `after` sends the lid is closed: the wall clock is `sleep_s` seconds later, the
    monotonic one is not, and the connection is dead and says nothing more."""
    sends = [place for place, step in enumerate(plan) if isinstance(step, Send)]
    if len(sends) <= after:
        return plan
    return (*plan[: sends[after]], Jump(int(sleep_s * 1000)), Wait(FOREVER_MS), Close())


def suspended(moment: Moment, plan: Plan, *, pause_s: Seconds = 3600.0) -> Plan:
    """The process is stopped for `pause_s` seconds before the answer: both clocks have moved at
    once, and every timer that was due meanwhile fires now."""
    pause_ms = int(pause_s * 1000)
    return (Jump(pause_ms, pause_ms), *plan)


EPOCH_S = 1_767_225_600
"""What the wall clock shows at the start of a virtual run."""


def skewed_retry_date(
    moment: Moment, plan: Plan, *, wait_s: Seconds = 20.0, skew_s: SecondsEitherWay = -3600.0
) -> Plan:
    """A 429 whose `retry-after` is a date, `wait_s` seconds from now by the server's clock, which
    is `skew_s` seconds ahead of ours (negative: behind, so the date has passed)."""
    now_s = EPOCH_S + (moment.call.at_ms + moment.past.downtime_ms) / 1000 + skew_s
    headers = {"date": _date(now_s), "retry-after": _date(now_s + wait_s)}
    return error(moment, 429, headers=headers)


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


def _date(seconds: float) -> str:
    """A date as headers have it, in English under any locale."""
    when = datetime.fromtimestamp(seconds, UTC)
    return f"{_DAYS[when.weekday()]}, {when:%d} {_MONTHS[when.month - 1]} {when:%Y %H:%M:%S} GMT"


def cache_expired(moment: Moment, plan: Plan, *, wait_s: Seconds = 301.0) -> Plan:
    """The answer takes longer than the prompt cache lives: nothing is read from the cache, all of
    it is written, and paid for, again."""
    expired = {"cache_read_input_tokens": 0, "cache_creation_input_tokens": 2048}

    def counted(reply: Reply) -> Reply:
        return msgspec.structs.replace(reply, usage={**reply.usage, **expired})

    return (Wait(int(wait_s * 1000)), *rewritten(plan, counted))


def overloaded_until(moment: Moment, plan: Plan, *, until_s: Seconds = 1.0) -> Plan:
    """529 for every call before the second `until_s` of the run: all agents that ask fail together.

    To be armed for more than one call (`often: forever`).
    """
    if moment.call.at_ms >= until_s * 1000:
        return plan
    return error(moment, 529)


def overloaded_session(moment: Moment, plan: Plan, *, session: SessionName = "main") -> Plan:
    """529 for the calls of one session, while all others succeed.

    A back-off that another session's success resets never grows. To be armed for more than one call
    (`often: forever`).
    """
    return error(moment, 529) if moment.call.session == session else plan


def lease_expired(moment: Moment, plan: Plan, *, lease_s: Seconds = 300.0) -> Plan:
    """The tool works for longer than its lock or login lasts, which is `lease_s` seconds, and
    reports that it has nothing any more. It has done nothing."""
    text = f"the lease expired after {lease_s:g} s; acquire it again and repeat the call"
    return (Wait(int(lease_s * 1000) + 1), Answer(ToolAnswer(text, is_error=True)))
