"""The parts of an open script that a run did not reach because the agent ended its turns earlier.

This is the agent's policy and no finding, as long as the agent reported the end of each turn. A run
that reached no part proves nothing: it is not applicable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from harness.checks.evidence.turn_outcomes import met_a_limit, outcome
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.verdict import NotApplicable

_TOLD = frozenset({"completed", "failed_truthfully", "cancelled", "limit"})
"""The outcomes of runs that the agent ended by itself, with a report about each turn."""

UNTESTED = "unreached: the agent ended its turns before any part of the scenario took place"


def unreached(history: History, must: Collection[str] = ()) -> Iterator[NotApplicable]:
    """Yield the rules that do not apply to this run, each with the part that was not reached.

    `must` are the checks that the scenario asks for.
    """
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
    if "cancel_honoured" in must and _comes_late(history.trace):
        yield NotApplicable("cancel_honoured", "unreached: the cancel came when its turn was over")


def _comes_late(trace: Trace) -> bool:
    """Whether the user cancelled, and each time after the turn: an agent that looks for a cancel
    before it asks the model, and not before it replies, learns of it then."""
    values = (a.value for a in trace.answers if a.seam == "inbox" and isinstance(a.value, dict))
    is_sent = any(value.get("kind") == "cancel" for value in values)
    return is_sent and not any(turn.cancelled_n for turn in trace.turns.values())


def is_untested(history: History, missing: tuple[NotApplicable, ...]) -> bool:
    """Whether the run reached no counterpart of the parts that it missed: no fault fired, no cancel
    met a turn, or no turn was played."""
    answers = history.trace.answers
    if any(answered.faults for answered in answers):
        return False
    played = any(a.seam == "model" and a.script_turn is not None for a in answers)
    codes = {what.check for what in missing}
    if codes & {"run.silent_fault", "cancel_honoured"}:
        return True
    return "run.unplayed_turn" in codes and not played
