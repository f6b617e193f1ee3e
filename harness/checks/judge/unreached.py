"""The parts of an open script that a run did not reach because the agent ended its turns earlier.

This is the agent's policy and no finding, as long as the agent reported the end of each turn. A run
that reached no part proves nothing: it is not applicable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from harness.checks.evidence.turn_outcomes import is_over_window, met_a_limit, outcome
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.messages import canonical
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


def without_room(history: History) -> str:
    """Why no request of the agent can fit: what it sends before any conversation is larger than the
    window of the scenario, which is for small prompts. "" if there is room.

    The tools of the scenario do not count: with them, a window may be too small on purpose.
    """
    trace = history.trace
    window = trace.settings.get("window_tokens")
    first = next((e for e in trace.exchanges if e.purpose == "main"), None)
    if not isinstance(window, int) or first is None or not is_over_window(first):
        return ""
    if trace.settings.get("seeded"):
        said = [m.text for m in first.node.messages if m.role != "system"]
    else:
        said = [d.inbound.text for d in trace.deliveries if d.n < first.n]
    offered, names = history.values.get(first.request.tools), trace.settings.get("tools", {})
    tools = map(canonical, offered) if isinstance(offered, list | tuple) else ()
    said += [tool for tool in tools if any(name in tool for name in names)]
    own = first.called.tokens - sum(map(_most_tokens, said))
    if own <= window:
        return ""
    return (
        f"the agent's own prompt has {own} tokens or more, and the window of the scenario {window}"
    )


def _most_tokens(text: str) -> int:
    """The tokens of a text and of what stands around it, by two bytes a token."""
    return len(text.encode("utf-8", "replace")) // 2
