"""What is wrong with a run, whatever the agent is: false greens, a broken target, limits.

A run that was never intercepted, never played, never faulted or that went out to a real network
proves nothing, so it fails. What makes a run doubtful without anyone's fault is a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.declarations import OVERLAY_COUNTS, needs, set_aside_by_overlay
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.verdict import Finding

REAL_WAIT_MS = 1000
"""Real waiting beyond this, in virtual time, means that time was not ours."""


@needs(told_by="run")
def target(history: History) -> Iterator[Finding]:
    """The target ends by itself: `crashed` with an exception or an exit status, or `hung`."""
    ended = history.trace.ended
    if ended is not None and ended.how in ("crashed", "hung"):
        exit_code = f" (exit status {ended.exit_code})" if ended.exit_code is not None else ""
        text = f"the target {ended.how}{exit_code}: {ended.text}".rstrip(": ")
        yield Finding(f"target.{ended.how}", text, (ended.n,))


@needs(told_by="run")
@set_aside_by_overlay(unplayed_turn=OVERLAY_COUNTS)
def run(history: History) -> Iterator[Finding]:
    """The false greens: a run that passes without having tested anything.

    `nothing_intercepted`: the target never called the model through us. `unplayed_turn`: a turn of
    the script was owed and never played. `silent_fault`: an armed fault never fired.
    `live_socket`: the target opened a connection beyond the harness. `undelivered`: a message of
    the inbox was never taken.
    """
    ended = history.trace.ended
    if ended is None or ended.how == "unable":
        return
    if not history.trace.exchanges:
        text = "the target never called the model through the harness: "
        text += "use the client or the base URL of the brief; an agent that speaks another wire "
        text += "is played with --wire"
        yield Finding("run.nothing_intercepted", text, (ended.n,))
    wanting = {
        "unplayed_turn": ("never played", () if _is_cassette(history) else ended.unplayed),
        "silent_fault": ("the armed fault never fired", ended.silent_faults),
        "live_socket": ("a connection beyond the harness", ended.live_sockets),
        "undelivered": ("the inbound message was never taken", ended.undelivered),
    }
    for rule, (text, names) in wanting.items():
        for name in names:
            yield Finding(f"run.{rule}", f"{text}: {name}", (ended.n,))


@needs(told_by="run")
def limit(history: History) -> Iterator[Finding]:
    """A limit of the scenario was hit; the rule is its name (`limit.model_calls`)."""
    seen: set[str] = set()
    for answered in history.trace.answers:
        if answered.error.startswith("limit.") and answered.error not in seen:
            seen.add(answered.error)
            name = answered.error.removeprefix("limit.")
            text = f"the limit {name} was reached at {answered.key}"
            yield Finding(answered.error, text, (answered.n,))
    ended = history.trace.ended
    if ended is not None and ended.how == "limit" and not seen:
        yield Finding("limit.virtual_s", ended.text or "the run's time is over", (ended.n,))


@needs(told_by="run")
@set_aside_by_overlay(exhausted=OVERLAY_COUNTS)
def script(history: History) -> Iterator[Finding]:
    """The agent goes on past the end of the script: `exhausted`."""
    for answered in history.trace.answers:
        if answered.error == "script.exhausted":
            text = f"{answered.key} comes after the last turn of the script"
            yield Finding("script.exhausted", text, (answered.n,))
            return


@needs(told_by="run")
def cassette(history: History) -> Iterator[Finding]:
    """A recording is played as it was recorded.

    `miss`: no recorded exchange answers a request, so the agent asks something else than it did
    when it was recorded. `unplayed`: recorded exchanges were never asked for.
    """
    missed = [a for a in history.trace.answers if a.error == "cassette.miss"]
    for answered in missed[:1]:
        more = f" (the first of {len(missed)})" if len(missed) > 1 else ""
        text = f"{answered.key}{more}: {answered.value}"
        yield Finding("cassette.miss", text, tuple(a.n for a in missed))
    ended = history.trace.ended
    if ended is not None and ended.unplayed and _is_cassette(history):
        names = ", ".join(ended.unplayed[:3]) + (", …" if len(ended.unplayed) > 3 else "")
        text = f"{len(ended.unplayed)} recorded exchanges were never played: {names}"
        yield Finding("cassette.unplayed", text, (ended.n,))


def _is_cassette(history: History) -> bool:
    """Whether a cassette was played: its turns are named by their place in it."""
    ended = history.trace.ended
    return ended is not None and any(name.startswith("exchange #") for name in ended.unplayed)


def doubts(trace: Trace) -> Iterator[str]:
    """Why nobody can say how the run went, in words."""
    ended = trace.ended
    if not trace.starts:
        yield "the history has no start"
    elif ended is None and trace.world != "recording":
        yield "the history has no end: the run was broken off"
    if ended is not None and ended.how == "unable":
        yield f"the harness could not go on: {ended.text}"
    if ended is not None and ended.real_wait_ms > REAL_WAIT_MS:
        yield f"real wait: {ended.real_wait_ms / 1000:.1f} s passed outside of virtual time"
