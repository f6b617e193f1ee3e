"""Whether a run proves something: it is intercepted, played and faulted, on no real network.

These checks are told with each run, whatever its scenario expects.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness import providers
from harness.checks.evidence.declarations import OVERLAY_COUNTS, needs, set_aside_by_overlay
from harness.checks.evidence.turn_outcomes import claimed, is_our_own
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.finding_key import Cause
from harness.core.values.verdict import Finding

REAL_WAIT_MS = 1000
"""In virtual time, a longer real wait means that the harness did not control the time."""


_ENDS = {
    "crashed": "crashed",
    "hung": "hung",
    "computes": "computes without an end",
    "loops": "calls without an end",
    "backs_off": "backs off without an end",
}
"""The abnormal ends of a target, in words."""


@needs(told_by="run", place=10)
def target(history: History) -> Iterator[Finding]:
    """The target ends by itself, and within the limits of real time and memory.

    `crashed`: it ends with an exception or an exit status. `hung`: it neither called nor computed
    for `limits.real_s` on a machine that was fast enough. `computes`: it used that much processor
    time. `loops`: it did not stop calling. `backs_off`: its pauses between attempts, in real time,
    fill half of ten times the limit. A machine that is too slow makes the run unknown.

    A Python target that ends, kills or replaces its process has crashed too.

    Not a finding: a crash after an answer of the harness itself, at a limit or at the end of the
    script. No API gives that answer.
    """
    ended = history.trace.ended
    if ended is not None and ended.how in _ENDS and not _is_ended_by_us(history.trace):
        exit_code = f" (exit status {ended.exit_code})" if ended.exit_code is not None else ""
        place = f" at {ended.frames[-1].partition(' ')[0]}" if ended.frames else ""
        place += f" with {half}" if (half := history.trace.half_written) else ""
        how = f"the target {_ENDS[ended.how]}{exit_code}{place}: {ended.text}"
        text, at = how.rstrip(": ") + ended.waits_at, ended.place
        source = f"{at.file}:{at.function}" if at else ""
        cause = Cause(error=ended.error, source=source)
        yield Finding(f"target.{ended.how}", text, (ended.n,), place=at, cause=cause)


def _is_ended_by_us(trace: Trace) -> bool:
    """Whether the target has crashed, and its last answer was the harness's own."""
    if trace.ended is None or trace.ended.how != "crashed":
        return False
    last = next((e.answered for e in reversed(trace.exchanges) if e.answered is not None), None)
    return last is not None and is_our_own(last)


_STOPPED_BY_US = ("unable", "computes", "loops", "backs_off", "memory")
"""Ends after which turns or faults are left over because the harness stopped the run."""


@needs(told_by="run", place=20)
@set_aside_by_overlay(unplayed_turn=OVERLAY_COUNTS)
def run(history: History) -> Iterator[Finding]:
    """The run tested something, so its pass is not a false green.

    `nothing_intercepted`: the target never called the model through us; if it refused before it
    asked, the finding has its words. `unplayed_turn`: a turn of
    the script was due and never played. `silent_fault`: an armed fault never fired. For an open
    script, these two rules apply only if the agent ended a turn silently. `live_socket`: the target
    opened a connection that bypasses the harness. `undelivered`: a message of the inbox was never
    taken. `writing`: with `--compare`, the agent does otherwise for the same answers.
    """
    ended = history.trace.ended
    if ended is None or ended.how in _STOPPED_BY_US:
        return
    if not history.trace.exchanges:
        text, events = _why_nothing(history.trace), (*_refusals(history.trace), ended.n)
        yield Finding("run.nothing_intercepted", text, events)
    wanting = (
        ("unplayed_turn", "never played", () if _is_cassette(history) else ended.unplayed, ""),
        ("silent_fault", "the armed fault never fired", ended.silent_faults, "fault"),
        ("live_socket", "a connection beyond the harness", ended.live_sockets, "subject"),
        ("undelivered", "the inbound message was never taken", ended.undelivered, ""),
    )
    for rule, text, names, field in wanting:
        for name in names:
            cause = Cause(**{field: name} if field else {})
            yield Finding(f"run.{rule}", f"{text}: {name}", (ended.n,), cause=cause)


def _refusals(trace: Trace) -> tuple[int, ...]:
    """The first report of a failure to the user."""
    return tuple(s.n for s in trace.sendings if claimed(s) == "failed_truthfully")[:1]


def _why_nothing(trace: Trace) -> str:
    """Why no request came: the agent asked elsewhere, or it refused before it asked."""
    path = trace.ended.elsewhere if trace.ended else ""
    wire = trace.starts[0].wire if trace.starts else ""
    if path and (step := providers.step_from(path, wire)):
        return f"the agent asked for {path}, which this run does not serve: {step}"
    told = next((s for s in trace.sendings if s.n in _refusals(trace)), None)
    if told is not None and not (trace.ended and trace.ended.live_sockets):
        said = " ".join(told.request.text.split())[:300]
        return f"the agent ended the turn with an error before it asked the model: {said!r}"
    text = "the target never called the model through the harness: "
    text += "use the client or the base URL of the brief; an agent that speaks another wire "
    return text + "is played with --wire, in pytest with --harness-wire"


@needs(told_by="run", place=30)
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
    if ended is not None and ended.how == "memory":
        yield Finding("limit.memory_mb", ended.text, (ended.n,))
    if ended is not None and ended.how == "limit" and not seen:
        yield Finding("limit.virtual_s", ended.text or "the run's time is over", (ended.n,))


@needs(told_by="run", place=40)
@set_aside_by_overlay(exhausted=OVERLAY_COUNTS)
def script(history: History) -> Iterator[Finding]:
    """The script has an answer that fits each request.

    `exhausted`: the agent makes a request after the end of the script. `unoffered`: the answer that
    is due calls a tool that the request does not offer, or breaks the tool's schema; only
    `fake_model` asks this.
    """
    first = {answered.error: answered for answered in reversed(history.trace.answers)}
    if (past := first.get("script.exhausted")) is not None:
        text = f"{past.key} comes after the last turn of the script"
        yield Finding("script.exhausted", text, (past.n,))
    if (misfit := first.get("script.unoffered")) is not None:
        yield Finding("script.unoffered", str(misfit.value), (misfit.n,))


@needs(told_by="run", place=50)
def cassette(history: History) -> Iterator[Finding]:
    """The agent makes the requests that the cassette recorded.

    `miss`: no recorded exchange answers a request, so the agent's request differs from the
    recording. `unplayed`: recorded exchanges were never asked for.
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
    """Whether a cassette was played; turns of a cassette are named by their place in it."""
    ended = history.trace.ended
    return ended is not None and any(name.startswith("exchange #") for name in ended.unplayed)


def machine_lack(trace: Trace) -> str:
    """What this machine lacked for the run; "" for nothing."""
    return trace.ended.text if trace.ended and trace.ended.how == "machine" else ""


def doubts(trace: Trace) -> Iterator[str]:
    """Yield the reasons for which the result of the run is unknown."""
    ended = trace.ended
    if not trace.starts:
        yield "the history has no start"
    elif ended is None and trace.world != "recording":
        yield "the history has no end: the run was interrupted"
    for start in trace.starts:
        yield from start.unread
    if ended is not None and ended.how == "unable":
        yield f"the harness could not continue: {ended.text}"
    if ended is not None and ended.real_wait_ms > REAL_WAIT_MS:
        yield f"real wait: over {REAL_WAIT_MS // 1000} s outside of virtual time{ended.waits_at}"
