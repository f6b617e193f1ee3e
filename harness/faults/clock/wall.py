"""The wall clock alone moves or stands still; what measures with the monotonic one sees nothing."""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.plans import Jump, Plan
from harness.core.values.strict import Seconds

STAGE = "value"

SEAMS = ("model", "tool", "inbox", "outbox", "store")

CODES = {"jumps_forward": ("K1",), "jumps_back": ("K1",), "frozen": ("K7",)}

VIRTUAL = True


def jumps_forward(moment: Moment, plan: Plan, *, jump_s: Seconds = 3600.0) -> Plan:
    """The wall clock is set forward by `jump_s` seconds before the answer, as summer time or NTP
    does it; escalating, twice as far each time."""
    return (Jump(_ms(jump_s * moment.harder)), *plan)


def jumps_back(moment: Moment, plan: Plan, *, jump_s: Seconds = 3600.0) -> Plan:
    """The wall clock is set back by `jump_s` seconds before the answer: what was stored has a time
    that is still to come; escalating, twice as far each time."""
    return (Jump(-_ms(jump_s * moment.harder)), *plan)


def frozen(moment: Moment, plan: Plan) -> Plan:
    """The wall clock shows at each call what it showed at the one before, so that rows have equal
    times. To be armed for more than one call (`often: forever`)."""
    waited_ms = moment.call.at_ms - moment.past.previous_ms
    return (Jump(-waited_ms), *plan) if waited_ms > 0 else plan


def _ms(seconds: float) -> int:
    return min(int(seconds * 1000), 10**10)
