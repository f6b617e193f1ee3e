"""The parts of an open script that a run did not reach because the agent ended its turns earlier.

This is the agent's policy and no finding, as long as the agent reported the end of each turn. A run
that reached no part proves nothing: it is not applicable.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.turn_outcomes import met_a_limit, outcome
from harness.core.history.history import History
from harness.core.values.verdict import NotApplicable

_TOLD = frozenset({"completed", "failed_truthfully", "cancelled", "limit"})
"""The outcomes of runs that the agent ended by itself, with a report about each turn."""

UNTESTED = "unreached: the agent ended its turns before any part of the scenario took place"


def unreached(history: History) -> Iterator[NotApplicable]:
    """Yield the rules of `run` that do not apply to this run, each with the part that was not
    reached."""
    ended = history.trace.ended
    if ended is None or not history.trace.is_open or met_a_limit(history.trace):
        return
    if outcome(history) not in _TOLD:
        return
    if ended.unplayed:
        yield NotApplicable("run.unplayed_turn", f"unreached: {', '.join(ended.unplayed)}")
    # The user chose the faults of an overlay, so the policy of the scenario does not excuse them.
    if ended.silent_faults and not history.trace.settings.get("overlaid"):
        yield NotApplicable("run.silent_fault", f"unreached: {', '.join(ended.silent_faults)}")


def is_untested(history: History, missing: tuple[NotApplicable, ...]) -> bool:
    """Whether the run reached no counterpart of the parts that it missed: no fault fired, or no
    turn was played."""
    answers = history.trace.answers
    if any(answered.faults for answered in answers):
        return False
    played = any(a.seam == "model" and a.script_turn is not None for a in answers)
    codes = {what.check for what in missing}
    return "run.silent_fault" in codes or ("run.unplayed_turn" in codes and not played)
