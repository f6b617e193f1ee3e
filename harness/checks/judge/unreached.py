"""The parts of an open script that a run did not reach because the agent ended its turns earlier.

This is the agent's policy and no finding, as long as the agent reported the end of each turn. A run
that reached no part proves nothing: it is not applicable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec import to_builtins

from harness.checks.evidence.turn_outcomes import is_over_window, met_a_limit, outcome
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.messages import canonical, side
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


def is_untested(
    history: History,
    missing: tuple[NotApplicable, ...],
    must: Collection[str],
    lacks: Iterable[NotApplicable],
) -> bool:
    """Whether the run reached no counterpart of the parts that it missed: no fault fired, no cancel
    met a turn, or no turn was played. So it is where a fault did not fire and a check of `must` was
    not asked: what another fault did, such as a kill, is not that question."""
    answers, codes = history.trace.answers, {what.check for what in missing}
    unasked = {lack.check for lack in lacks if lack.kind == "unasked"}
    if "run.silent_fault" in codes and not unasked.isdisjoint(must):
        return True
    if any(answered.faults for answered in answers):
        return False
    played = any(a.seam == "model" and a.script_turn is not None for a in answers)
    if codes & {"run.silent_fault", "cancel_honoured"}:
        return True
    return "run.unplayed_turn" in codes and not played


def without_room(history: History) -> str:
    """Why no request of the agent can fit: what it sends before any conversation is larger than the
    window of the scenario, which is for small prompts. So is what it says when it asks for a
    summary. "" if there is room.

    The tools of the scenario do not count: with them, a window may be too small on purpose.
    """
    trace = history.trace
    window = trace.settings.get("window_tokens")
    if not isinstance(window, int):
        return ""
    prompt = next((e for e in trace.exchanges if e.purpose == "main"), None)
    summary = next((e for e in trace.exchanges if e.purpose == "compact"), None)
    sizes = {
        "prompt": _own_tokens(history, prompt) if prompt and is_over_window(prompt) else 0,
        "prompt for a summary": _words_of(summary) if summary and is_over_window(summary) else 0,
    }
    for what, own in sizes.items():
        if own > window:
            text = f"the agent's own {what} has {own} tokens or more"
            return f"{text}, and the window of the scenario {window}"
    return ""


def _words_of(summary: Exchange) -> int:
    """The tokens of a request for a summary without the conversation: by its share of the bytes,
    because such a request holds nothing but texts."""
    called = summary.called
    said = [canonical(to_builtins(m)) for m in summary.node.messages if side(m) != "system"]
    return called.tokens - called.tokens * sum(map(len, said)) // max(called.bytes, 1)


def _own_tokens(history: History, asked: Exchange) -> int:
    """The tokens of a request that are neither conversation nor tools of the scenario."""
    trace = history.trace
    if trace.settings.get("seeded"):
        said = [m.text for m in asked.node.messages if m.role != "system"]
    else:
        said = [d.inbound.text for d in trace.deliveries if d.n < asked.n]
    offered, names = history.values.get(asked.request.tools), trace.settings.get("tools", {})
    tools = map(canonical, offered) if isinstance(offered, list | tuple) else ()
    said += [tool for tool in tools if any(name in tool for name in names)]
    return asked.called.tokens - sum(map(_most_tokens, said))


def _most_tokens(text: str) -> int:
    """The tokens of a text and of what stands around it, by two bytes a token."""
    return len(text.encode("utf-8", "replace")) // 2
