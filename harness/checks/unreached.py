"""What a run of an open script did not reach, because the agent ended its turns before.

That is the agent's policy and no finding, as long as it has told its user how the turns ended. A
run that reached nothing at all proves nothing: it is not applicable.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.turn_outcomes import outcome
from harness.core.history.history import History
from harness.core.values.verdict import NotApplicable

_TOLD = frozenset({"completed", "failed_truthfully", "cancelled"})
"""The outcomes of runs that end as the agent wants, with a word about each turn."""

UNTESTED = "unreached: the agent ended its turns before anything of the scenario took place"


def unreached(history: History) -> Iterator[NotApplicable]:
    """The rules of `run` that are not asked of this run, each with what was not reached."""
    ended = history.trace.ended
    if ended is None or not history.trace.is_open or outcome(history) not in _TOLD:
        return
    if ended.unplayed:
        yield NotApplicable("run.unplayed_turn", f"unreached: {', '.join(ended.unplayed)}")
    # The faults of an overlay are the user's own, whatever the policy of the scenario below it.
    if ended.silent_faults and not history.trace.settings.get("overlaid"):
        yield NotApplicable("run.silent_fault", f"unreached: {', '.join(ended.silent_faults)}")


def is_untested(history: History, missing: tuple[NotApplicable, ...]) -> bool:
    """Whether nothing of what the run did not reach has a counterpart that it reached: no fault
    fired at all, or no turn was played."""
    answers = history.trace.answers
    if any(answered.faults for answered in answers):
        return False
    played = any(a.seam == "model" and a.script_turn is not None for a in answers)
    codes = {what.check for what in missing}
    return "run.silent_fault" in codes or ("run.unplayed_turn" in codes and not played)
