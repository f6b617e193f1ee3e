"""What cannot be asked of a run with an overlay: faults that its scenario does not know of.

A scenario counts what a correct agent does under its own faults. Under others it calls more often,
waits more, may end otherwise, and a turn or a fault meant for the third call meets another one. So
the rules that count by the scenario's own plan are set aside, and said to be; all others hold.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.history.history import History
from harness.core.scenario.scenario import Expect, ExpectCalls
from harness.core.values.verdict import NotApplicable

_COUNTS = "an overlay changes how many calls there are"

REASONS = {
    "expect.outcome": "an overlay changes how a run may end",
    "expect.calls": _COUNTS,
    "expect.inputs": "an overlay changes which calls the scenario's own faults meet",
    "expect.waits": "an overlay changes how often an agent waits",
    "run.unplayed_turn": _COUNTS,
    "script.exhausted": _COUNTS,
}
"""The rules that are set aside, with the reason."""


def set_aside(history: History, expectation: Expect) -> Iterator[NotApplicable]:
    """The rules that are not asked; of expectations, those that the scenario has."""
    if not history.trace.settings.get("overlaid"):
        return
    has = {
        "expect.outcome": expectation.outcome is not None,
        "expect.calls": expectation.calls != ExpectCalls(),
        "expect.inputs": bool(expectation.inputs),
        "expect.waits": expectation.waits_s is not None,
    }
    for code, reason in REASONS.items():
        if has.get(code, True):
            yield NotApplicable(code, reason)
