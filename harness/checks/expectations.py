"""Whether a run proves something, and ends as its scenario expects.

A run proves nothing if it was not intercepted, played or faulted, or if it reached a real network.
A wait is time that the agent adds between a failed answer and that session's next request. Waits of
the answer's own plan, and waits of 0 ms, do not count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import msgspec

from harness import providers
from harness.checks.evidence import seen_cancels, tool_steps, unmet_faults
from harness.checks.evidence.declarations import OVERLAY_COUNTS, needs, set_aside_by_overlay
from harness.checks.evidence.shown_text import said_times, shown
from harness.checks.evidence.tool_inputs import differences, same_input
from harness.checks.evidence.turn_outcomes import (
    claimed,
    expected,
    gave_up,
    is_our_own,
    met_a_limit,
    outcome,
)
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.scenario.scenario import Bounds, Expect, ExpectReply, MustNot, Waits
from harness.core.values.messages import canonical
from harness.core.values.verdict import Cause, Finding
from harness.core.values.visible_text import duration


@needs(told_by="run", place=450)
@set_aside_by_overlay(
    outcome="an overlay changes how a run may end",
    calls=OVERLAY_COUNTS,
    inputs="an overlay changes which calls the scenario's own faults meet",
    waits="an overlay changes how often an agent waits",
    reply="an overlay changes which answers arrive",
)
def expect(history: History) -> Iterator[Finding]:
    """The run matches the expectations of its scenario.

    They are `outcome`, number and `inputs` of `calls`, `waits`, the words of a `reply`, and nothing
    forbidden (`must_not`). A `max` does not count what `no_progress_stop` allows after three equal
    steps, nor what the profile's `repeats` and `retry_budget` allow.
    `known_missing`: a known defect no longer appears.
    """
    expectation = expected(history)
    yield from _outcome(history, expectation)
    yield from _calls(history, expectation)
    yield from _inputs(history, expectation)
    yield from _waits(history, expectation.waits_s)
    yield from _forbidden(history, expectation.must_not)
    for reply in expectation.replies:
        yield from _reply(history, reply)


def _outcome(history: History, expectation: Expect) -> Iterator[Finding]:
    found, wanted = outcome(history), expectation.outcome
    words = (wanted,) if isinstance(wanted, str) else wanted
    is_own = found == "limit" and not met_a_limit(history.trace)
    if is_own and "failed_truthfully" in (words or ()):
        return  # the agent has met its own limit, and said so
    is_policy = (found == "failed_truthfully" or is_own) and _gave_up(history.trace)
    is_policy |= found == "cancelled" and tool_steps.is_counted_otherwise(history.trace)
    if words is not None and found not in words and not is_policy:
        events = tuple(s.n for s in history.trace.sendings if s.ends_turn)[-1:]
        cause = unmet_faults.given_up(history.trace) if found == "failed_truthfully" else ""
        text = f"{cause}the outcome is {found}, expected {' or '.join(words)}"
        if "cancelled" in words and not any(t.cancelled_n for t in history.trace.turns.values()):
            text += ": the agent never took the user's stop"
        yield Finding("expect.outcome", text, events or _end(history), cause=Cause(subject=found))


def _calls(history: History, expectation: Expect) -> Iterator[Finding]:
    trace, calls = history.trace, expectation.calls
    more = tool_steps.uncounted_runs(trace) if calls.model or calls.tool else Counter[str]()
    if calls.model is not None:
        bounds = _raised(calls.model, more.total() + tool_steps.uncounted_attempts(trace))
        yield from _bounds("", [e.n for e in trace.exchanges], bounds, _end(history))
    for name, bounds in tool_steps.counted(trace, calls.tool) if calls.tool else ():
        numbers = tool_steps.runs_of(trace, name)
        if _gave_up(trace):  # the calls after that point are not expected
            bounds = msgspec.structs.replace(bounds, min=0)
        bounds = _raised(bounds, max(more[name], tool_steps.more_rounds(trace, bounds.max or 0)))
        bounds = _raised(bounds, seen_cancels.crossed(trace, name))
        seen = {id(e.ask) for e in trace.executions if e.request.name == name}
        said = f" ({len(seen)} asked for by the model)" if 0 < len(seen) < len(numbers) else ""
        unrun = unmet_faults.first_unrun(trace, name) if len(numbers) < bounds.min else ""
        yield from _bounds(name, numbers, bounds, _end(history), said, unrun)


def _raised(bounds: Bounds, more: int) -> Bounds:
    """The bounds with more calls, which the rules about repetition allow."""
    return bounds if bounds.max is None else msgspec.structs.replace(bounds, max=bounds.max + more)


def _gave_up(trace: Trace) -> bool:
    return tool_steps.is_counted_otherwise(trace) or any(
        gave_up(trace, t) for t in trace.turns.values()
    )


def _inputs(history: History, expectation: Expect) -> Iterator[Finding]:
    for execution in history.trace.executions:
        name, found = execution.request.name, execution.request.input
        wanted = expectation.inputs.get(name, found)
        schema = history.trace.schema(None, name)
        if canonical(found) != canonical(wanted) and not same_input(wanted, found, schema):
            text = f"the tool {name} is called with another input than expected"
            yield Finding("expect.inputs", f"{text}{differences(found, wanted)}", (execution.n,))


def _forbidden(history: History, must_not: MustNot) -> Iterator[Finding]:
    """Yield the forbidden tools that are called, and the forbidden words at a turn's end."""
    ran = ((n, name) for name in must_not.call for n in tool_steps.runs_of(history.trace, name))
    for number, name in sorted(ran):
        text = f"the tool {name} is called, which a correct agent never does here"
        yield Finding("expect.must_not", text, (number,))
    for sending in history.trace.sendings:
        said = sending.request.text.casefold() if sending.ends_turn else ""
        for words in must_not.say:
            if words.casefold() in said:
                text = f"the user is told {words!r}, which is not true here"
                cause = Cause(subject=words)
                yield Finding("expect.must_not", text, (sending.n,), cause=cause)


def _reply(history: History, asked: ExpectReply) -> Iterator[Finding]:
    """Yield the words that the user reads, misses or reads twice, in the turns that are asked."""
    read = [
        (text, parts[-1].n)
        for turn in history.trace.turns.values()
        if asked.turn in (None, turn.number) and asked.session in (None, turn.session)
        for text, parts in shown(turn.sendings)
    ]
    place = f"in {named}, " if (named := asked.turns_named) else ""
    events = tuple(n for _, n in read) or _end(history)
    for word, (least, most, told) in _REPLY.items():
        given = getattr(asked, word) or ()
        for words in (given,) if isinstance(given, str) else given:
            times = sum(said_times(words, text, is_pattern=word == "pattern") for text, _ in read)
            if not least <= times <= most and not (least and _gave_up(history.trace)):
                text = f"{place}the user {told.format(words=words, times=times)}"
                cause = Cause(subject=f"reply.{word}: {words}")
                yield Finding("expect.reply", text, events, cause=cause)


_REPLY = {
    "has": (1, math.inf, "does not read {words!r}"),
    "lacks": (0, 0, "reads {words!r}, which is not true here"),
    "once": (1, 1, "reads {words!r} {times} times, expected once"),
    "pattern": (1, math.inf, "reads nothing that matches {words!r}"),
}
"""The least and the greatest number of times, and the words for another number."""


def _bounds(
    tool: str, numbers: list[int], bounds: Bounds, end: tuple[int, ...], said: str = "",
    why: str = "",
) -> Iterator[Finding]:  # fmt: skip
    """Yield the finding for the calls of a tool; of the model for "". `said` stands after the
    number, and `why` before all."""
    count, most = len(numbers), len(numbers) if bounds.max is None else bounds.max
    if count > most or count < bounds.min:
        bound, n = ("max", most) if count > most else ("min", bounds.min)
        text = f"{why}{f'the tool {tool}' if tool else 'the model'} is called {count} times"
        text += f"{said}, expected at {'most' if bound == 'max' else 'least'} {n}"
        cause = Cause(tool=tool, subject=f"calls.{'tool' if tool else 'model'}.{bound}")
        yield Finding("expect.calls", text, (*numbers[most:][:1],) or end, cause=cause)


def _end(history: History) -> tuple[int, ...]:
    return (history.trace.ended.n,) if history.trace.ended else ()


def _waits(history: History, schedule: tuple[float, ...] | Waits | None) -> Iterator[Finding]:
    if schedule is None:
        return
    waits = schedule if isinstance(schedule, Waits) else Waits(schedule=schedule)
    found = waits_after_failures(history.trace)
    same = len(found) == len(waits.schedule) and all(
        abs(gap_s - planned_s) <= waits.tolerance * planned_s + 0.001
        for (gap_s, _), planned_s in zip(found, waits.schedule, strict=True)
    )
    if not same:
        gaps, wanted = (
            ", ".join(map(duration, each)) or "none"
            for each in ([gap_s for gap_s, _ in found], waits.schedule)
        )
        text = f"the waits are {gaps}, expected {wanted}"
        yield Finding("expect.waits", text, tuple(n for _, n in found) or _end(history))


def waits_after_failures(trace: Trace) -> list[tuple[float, int]]:
    """Each wait in seconds, with the event of the request that ends it."""
    waits: list[tuple[float, int]] = []
    last: dict[str, Exchange] = {}
    for exchange in trace.exchanges:
        before = last.get(exchange.called.session)
        if before is not None and before.answered is not None and not before.succeeded:
            gap_ms = exchange.called.at_ms - before.ended_ms
            if gap_ms > 0:
                waits.append((gap_ms / 1000, exchange.n))
        last[exchange.called.session] = exchange
    return waits


REAL_WAIT_MS = 1000
"""In virtual time, a longer real wait means that the harness did not control the time."""


_ENDS = {
    "crashed": "crashed",
    "hung": "hung",
    "computes": "computes without an end",
    "loops": "does not end",
    "backs_off": "backs off without an end",
}
"""The abnormal ends of a target, in words."""


@needs(told_by="run", place=10)
def target(history: History) -> Iterator[Finding]:
    """The target ends by itself, and within the limits of real time and memory.

    `crashed`: it ends with an exception or an exit status. `hung`: it neither called nor computed
    for `limits.real_s` on a machine that was fast enough. `computes`: it used that much processor
    time. `loops`: it used that time, and still called. `backs_off`: its pauses between attempts, in
    real time, fill half of ten times the limit. A machine that is too slow makes the run unknown.

    A Python target that ends, kills or replaces its process has crashed too.

    Not a finding: a crash after an answer of the harness itself, at a limit or at the end of the
    script. No API gives that answer.
    """
    trace, ended = history.trace, history.trace.ended
    if ended is not None and ended.how in _ENDS and not _is_ended_by_us(trace):
        newest = trace.answers[-1:]  # a request that is refused at last ends the target
        exit_code = f" (exit status {ended.exit_code})" if ended.exit_code is not None else ""
        place = f" at {ended.frames[-1].partition(' ')[0]}" if ended.frames else ""
        place += f" with {half}" if (half := trace.half_written) else ""
        how = f"the target {_ENDS[ended.how]}{exit_code}{place}: {ended.text}"
        text, at = how.rstrip(": ") + ended.waits_at, ended.place
        source = f"{at.file}:{at.function}" if at else ""
        cause = Cause(error=ended.error, source=source)
        refused = [e.n for e in trace.exchanges[-1:] if e.called.refused and e.answered in newest]
        yield Finding(f"target.{ended.how}", text, (*refused, ended.n), place=at, cause=cause)


def _is_ended_by_us(trace: Trace) -> bool:
    """Whether the target has crashed, and its last answer was the harness's own."""
    last = next((e.answered for e in reversed(trace.exchanges) if e.answered is not None), None)
    is_crash = trace.ended is not None and trace.ended.how == "crashed"
    return is_crash and last is not None and is_our_own(last)


_STOPPED_BY_US = ("unable", "computes", "loops", "backs_off", "memory", "killed")
"""Ends after which turns or faults are left over because the harness stopped the run."""


@needs(told_by="run", place=20)
@set_aside_by_overlay(unplayed_turn=OVERLAY_COUNTS)
def run(history: History) -> Iterator[Finding]:
    """The run tested something, so its pass is not a false green.

    `nothing_intercepted`: the target never called the model through us. `unplayed_turn`: a turn of
    the script was due and never played. `silent_fault`: an armed fault never fired. For an open
    script, these two rules apply only if the agent ended a turn silently. `live_socket`: the target
    opened a connection that bypasses the harness. `undelivered`: a message was never taken.
    `unplayed_message`: the call that it waits for was never answered. `writing`: with `--compare`,
    the agent does otherwise for the same answers.
    """
    ended = history.trace.ended
    if ended is None or ended.how in _STOPPED_BY_US:
        return
    if not (history.trace.exchanges or unmet_faults.all_stopped(history.trace)):
        text, events = _why_nothing(history.trace), (*_refusals(history.trace), ended.n)
        yield Finding("run.nothing_intercepted", text, events)
    wanting = (
        ("unplayed_turn", "never played", () if _is_cassette(history) else ended.unplayed, ""),
        ("silent_fault", "the armed fault never fired", ended.silent_faults, "fault"),
        ("live_socket", "a connection beyond the harness", ended.live_sockets, "subject"),
        ("undelivered", "the inbound message was never taken", ended.undelivered, ""),
        ("unplayed_message", "the message never came", ended.unplayed_messages, ""),
    )
    for rule, text, names, field in wanting:
        for name in names:
            cause = Cause(**{field: name} if field else {})
            why = unmet_faults.unoffered(history.trace) if rule == "unplayed_turn" else ""
            said = f"{text}: {name}{why}{unmet_faults.what_came(history.trace, cause.fault)}"
            yield Finding(f"run.{rule}", said, (ended.n,), cause=cause)


def _refusals(trace: Trace) -> tuple[int, ...]:
    """The first report of a failure to the user."""
    return tuple(s.n for s in trace.sendings if claimed(s) == "failed_truthfully")[:1]


def _why_nothing(trace: Trace) -> str:
    """Why no request came: the agent asked elsewhere, or it refused before it asked."""
    path, wire = trace.ended.elsewhere if trace.ended else "", trace.starts[:1]
    if path and (step := providers.step_from(path, wire[0].wire if wire else "")):
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
    if ended is not None and ended.how in ("unable", "killed"):
        yield f"the harness could not continue: {ended.text}"
    if ended is not None and ended.real_wait_ms > REAL_WAIT_MS:
        yield f"real wait: over {REAL_WAIT_MS // 1000} s outside of virtual time{ended.waits_at}"
