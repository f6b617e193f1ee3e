"""An overload that goes by the time and by the session, and not by the number of calls.

The retries of agents that were refused in the same moment come back in the same moment, unless
they draw their waits; and one agent's success says nothing about another one's.
"""

from __future__ import annotations

from harness.core.scenario.scenario import SessionName
from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.core.values.strict import Seconds
from harness.faults.http.said import error

STAGE = "value"

SEAMS = ("model",)

CODES = {"overloaded_until": ("K5",), "overloaded_session": ("K6",)}


def overloaded_until(moment: Moment, plan: Plan, *, until_s: Seconds = 1.0) -> Plan:
    """529 for every call before the second `until_s` of the run: whoever asks meanwhile is sent
    away together. To be armed for more than one call (`often: forever`)."""
    if moment.call.at_ms >= until_s * 1000:
        return plan
    return error(moment, 529, "Overloaded")


def overloaded_session(moment: Moment, plan: Plan, *, session: SessionName = "main") -> Plan:
    """529 for the calls of one session, while all others succeed: a back-off that somebody else's
    success resets never grows. To be armed for more than one call (`often: forever`)."""
    return error(moment, 529, "Overloaded") if moment.call.session == session else plan
