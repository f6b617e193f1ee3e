"""Whether a turn that makes progress may continue; any repetition, exact or loose, excuses a stop.

`loops` decides strictly which turns must stop. This file decides in the agent's favour.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, takewhile
from typing import NamedTuple

from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    CANCEL,
    KILL,
    LIMIT,
    NEVER,
    REFUSED_WRITE,
    TAKEN,
    Case,
    is_killed_between,
)
from harness.checks.evidence.messages_in_turn import is_answered_before
from harness.checks.evidence.told_results import OTHERS, is_valid_call, pretended
from harness.checks.evidence.tool_steps import are_told_apart, repeats_before
from harness.checks.evidence.turn_outcomes import (
    asks_the_user,
    calls_tools,
    claimed,
    ending_calls,
    gave_up,
    is_local,
    was_left_to_the_user,
)
from harness.core.history.exchanges import Ask, Exchange, Execution
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import Json, canonical
from harness.core.values.plans import Jump
from harness.core.values.verdict import Cause, Finding
from harness.core.values.visible_text import SHOWN, abridged


class _Stop(NamedTuple):
    """A point at which an agent may have stopped a turn; `shown_n` is the event that shows it."""

    rule: str
    n: int
    text: str
    shown_n: int
    tool: str = ""


MAX_BOUND = 50
"""From this number of calls or requests in a turn, a bound and not a breaker explains a stop."""

MAX_TOKENS, MAX_LASTING_S = 1_000_000, 14_400
"""A turn with this cost or duration may end because its budget is spent."""

NEARLY = 0.8
"""From this share of its budget an agent may stop: it leaves room for an answer, and tokenizers
differ. One that counts each token twice stops at half."""

_COUNTS = (
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ("output_tokens",),
)
"""The counts of a prompt and of an answer, by the core's names. Other APIs have what the cache gave
within the prompt."""

_COUNTS_TOO_MUCH = frozenset({"sse.usage_huge", "http.count_tokens_disagrees"})
"""Faults after which an agent's own meter may be full: the counts that it reads are no longer those
of the history."""


@needs("model", "tool", told_by="run", place=240)
@excused_by(stop=(CANCEL, KILL, LIMIT, REFUSED_WRITE, TAKEN))
def no_false_stop(history: History, *, repeats: int = 3) -> Iterator[Finding | Case]:
    """A turn that makes progress is not stopped; progress means no `repeats` equal steps in a row.

    `refused`: a valid call of a known tool is answered without running it, by an agent that takes
    the tools of the scenario. `withdrawn`: tools are no longer offered. `ended`: the turn ends
    while the model asks for a tool. `unasked`: after earlier turns, a turn ends with a failure
    before the model is asked, or after no more failures than earlier turns went on from. Those of
    the model count where the turns are an hour apart. So a limit of one turn runs on over several.

    A limit, a cancel, a kill, a write that the store refused, and anything that repeats excuse
    the stop. A failed answer of the model excuses it until the model has answered well. A final
    with the status `waiting` excuses it, because it asks the user first; so does a message with a
    question mark, if the next turn runs or refuses the calls that it left open. So does a turn
    that lasted nearly four hours or cost a million tokens, because its budget may be spent.
    `budget_ceiling.tokens` of the profile says the budget; then a turn below four fifths of it is
    not excused. A success with a new result starts the count again. Source: invariant 12.
    """
    trace = history.trace
    ran = {run.request.name: run.n for run in reversed(trace.executions)}
    for turn in trace.turns.values():
        stops = () if gave_up(trace, turn) else _stops(trace, turn, ran)
        for stop in stops:
            yield Case("stop", _without_reason(trace, turn, stop, repeats), turn, stop.n)
        for n, text in _failed_before(trace, turn):
            yield Case("stop", [Finding("no_false_stop.unasked", text, (n,))], turn, n)


def _stops(trace: Trace, turn: Turn, ran: Mapping[str, int]) -> Iterator[_Stop]:
    """Yield the first stop of the turn, and those that came before an earlier one was shown.

    A refusal is shown once the tool has run: only then does the agent take the tools for certain.
    That may come late in a run, and must not take back what the run has shown before. `ran` holds
    the event of each tool's first call.
    """
    found = [
        _Stop("refused", a.sent_n, _refused(trace, turn, a),
              max(a.sent_n, ran.get(a.use.name, NEVER)), a.use.name)
        for a in turn.asks
        if a.refused and is_valid_call(trace, a) and pretended(trace, a) is None
        and not was_left_to_the_user(turn, a) and not is_answered_before(turn, a.sent_n)
        and not is_killed_between(trace, a.exchange.n, a.sent_n) and not _runs_beside(turn, a)
    ]  # fmt: skip
    # An agent that loops may be made to answer by a last request without tools; one that makes
    # progress is stopped by it in the middle of its work.
    for before, exchange in pairwise(turn.readable):
        if before.request.tools_offered and not exchange.request.tools_offered:
            text = f"{exchange.called.key} no longer offers tools although nothing repeats"
            found.append(_Stop("withdrawn", exchange.n, text, exchange.n))
    came = [d.inbound.id for d in turn.came]
    text = f"{turn.words} ends in the middle of a tool call"
    text += f", after the message {came[0]} came" if came else ""
    ends = _endings(trace, turn)
    found += [_Stop("ended", n, text + _met(trace, turn, n), n) for n in ends]
    text = f"{turn.words} ends without a request, by what earlier turns have left: "
    found += [_Stop("unasked", n, text + words, n) for n, words in _unasked(trace, turn)]
    text = "failed, and earlier turns went on: the count of failures runs on over the turns"
    after = f"{turn.words} ends with a failure after"
    counted = _counted_over_turns(trace, turn)
    found += [_Stop("unasked", n, f"{after} {tool} {text}", n, tool) for n, tool in counted]
    shown_n, told = NEVER, set[str]()
    for stop in sorted(found, key=lambda stop: stop.n):
        if stop.n < shown_n and stop.text not in told:
            yield stop
        told.add(stop.text)
        shown_n = min(shown_n, stop.shown_n)


def _met(trace: Trace, turn: Turn, until_n: int) -> str:
    """What came in the turn, for the sentence of its end: the cancel of another session, or a wall
    clock that was set forward."""
    others = (t for t in trace.turns.values() if t.session != turn.session)
    stopped = (t.session for t in others if turn.opened_n < t.cancelled_n < until_n)
    met = [f"a cancel of {session}" for session in stopped]
    answered = (e.answered for e in turn.exchanges if e.answered and e.n < until_n)
    jumps = (s for a in answered for s in a.steps if isinstance(s, Jump))
    forward_s = sum(s.wall_ms - s.monotonic_ms for s in jumps) // 1000
    met += [f"the wall clock was set {forward_s} s forward"] if forward_s > 0 else []
    return f", after {met[0]}" if met else ""


def _runs_beside(turn: Turn, ask: Ask) -> bool:
    """Whether an equal call of the same answer ran: the model asked for both before it read."""
    call = ask.use.name, canonical(ask.use.input)
    runs = (a.execution for a in turn.asks if a.exchange is ask.exchange)
    return any(run is not None and run.identity == call for run in runs)


def _refused(trace: Trace, turn: Turn, ask: Ask) -> str:
    """How a call that never ran is answered: by the error of a call beside it, as where one failure
    ends a batch; with the result of an equal call; or by a refusal, as where an equal call of
    another turn failed."""
    call, text = (ask.use.name, canonical(ask.use.input)), ask.sent.text.strip() if ask.sent else ""
    before = (run for run in turn.executions if run.n < ask.sent_n and run.identity == call)
    is_recalled = any(run.text.strip() == text for run in before)
    beside = (a for a in turn.asks if a.exchange is ask.exchange and a is not ask)
    failed = (a.sent.text.strip() for a in beside if a.sent and a.execution and a.execution.failed)
    name = f"the call of {ask.use.name} in {ask.exchange.called.key}"
    if text in failed:
        return f"{name} never runs, and gets the error of a call beside it"
    if ask.use.input == "":
        return f"{name} is refused for its empty input, and it needs none"
    told = "gets an earlier result and never runs," if is_recalled else "is refused"
    end = bisect_left(trace.executions, ask.sent_n, key=lambda run: run.n)
    earlier = reversed(trace.executions[max(0, end - OTHERS) : end])
    equal = (r for r in earlier if r.identity == call and r.failed)
    here = (turn.session, turn.number)
    others = (r for r in equal if (r.called.session, r.called.turn) != here)
    text = f"{name} {told} although nothing repeats"
    return text + next((f" in its turn; {r.called.key} failed in another one" for r in others), "")


def _endings(trace: Trace, turn: Turn) -> Iterator[int]:
    """Yield the finals that follow an answer with a tool call, if that tool does not end the turn
    and no tool had just failed. What comes after a final does not count: a run that goes on shows
    what its beginning shows."""
    for ending in turn.endings:
        before = [e for e in turn.main if e.n < ending.n]
        runs = [e for e in turn.executions if e.answered and e.answered.n < ending.n]
        if not before or not _could_run(before[-1]) or (runs and runs[-1].failed):
            continue
        if asks_the_user(ending):
            continue  # it runs once the user has allowed it
        if not ending_calls(trace, turn, before[-1], ending.n):
            yield ending.n


def _unasked(trace: Trace, turn: Turn) -> Iterator[tuple[int, str]]:
    """Yield the failure that ends a turn without a request, after an earlier turn of the session,
    and its words.

    A deadline, a budget or a count of failures then runs on over the turns. A message larger than
    the window, a picture and a store that failed are reasons of the turn itself.
    """
    first = turn.endings[0] if turn.endings else None
    before = trace.turns.get((turn.session, turn.number - 1))
    if first is None or before is None or turn.main or claimed(first) in ("completed", "cancelled"):
        return
    is_plain = bool(turn.text.strip()) and turn.delivery is not None
    window = trace.settings.get("window_tokens") or math.inf
    is_plain = is_plain and len(turn.text) < window and not turn.redelivery and not turn.came_in
    is_plain = is_plain and not asks_the_user(first)  # a call of an earlier turn is still open
    failed = any(a.outcome != "ok" and turn.opened_n < a.n < first.n for a in trace.answers)
    if is_plain and not failed and not trace.damages and not is_local(turn):
        yield first.n, canonical(abridged(first.request.text, SHOWN))


def _counted_over_turns(trace: Trace, turn: Turn) -> Iterator[tuple[int, str]]:
    """Yield the failure that ends a turn, if two earlier turns each went on after as many failures
    of its tool. Failures that a fault made may be of another kind."""
    first = turn.endings[0] if turn.endings else None
    if first is None or claimed(first) not in ("failed_truthfully", "limit"):
        return
    runs = [run for run in turn.executions if run.answered and run.n < first.n]
    if not runs or not (last := runs[-1]).failed or any(last.n < e.n for e in turn.main):
        return
    failures = sum(run.failed for run in runs)
    earlier = (trace.turns.get((turn.session, turn.number - by)) for by in (1, 2))
    if not _is_bent(last) and all(t and _went_on(t, last.request.name, failures) for t in earlier):
        yield first.n, last.request.name


def _went_on(turn: Turn, tool: str, failures: int) -> bool:
    """Whether a turn asked the model again after this number of failures of a tool."""
    failed = [r for r in turn.executions if r.failed and r.request.name == tool and not _is_bent(r)]
    return len(failed) >= failures and any(e.n > failed[failures - 1].n for e in turn.main)


def _failed_before(trace: Trace, turn: Turn) -> Iterator[tuple[int, str]]:
    """Yield the failure that ends a turn after no more failed answers than two earlier turns
    went on from, in words. A breaker may look at the last minutes: an hour has to lie between."""
    first = turn.endings[0] if turn.endings else None
    asked = [e for e in turn.main if first and e.n < first.n]
    if first is None or not asked or claimed(first) not in ("failed_truthfully", "limit"):
        return
    earlier = [trace.turns.get((turn.session, turn.number - by)) for by in (1, 2)]
    last_ms = asked[0].called.at_ms - _APART_MS
    if all(e.transient and _is_alike(e, asked[0]) for e in asked) and all(
        t and t.main and t.main[-1].called.at_ms <= last_ms and _recovered(t, asked)
        for t in earlier
    ):
        text = f"{turn.words} ends with a failure after {len(asked)} answers of the model failed, "
        text += "and earlier turns went on after that: failures of an earlier turn were counted"
        yield first.n, text


_APART_MS = 3_600_000


def _recovered(turn: Turn, failed: list[Exchange]) -> bool:
    """Whether a turn had as many failures of a kind, and then an answer; with equally many, a
    deadline may have ended the tries that took longer."""
    begun = takewhile(lambda e: not e.succeeded, turn.main)
    alike = [e for e in begun if _is_alike(e, failed[0])]
    if len(alike) < len(failed) or not turn.main[-1].succeeded:
        return False
    is_soon = failed[-1].ended_ms - failed[0].called.at_ms <= _DEADLINE_MS
    return len(alike) > len(failed) or is_soon


_DEADLINE_MS = 10_000  # that of a turn is longer


def _is_alike(one: Exchange, other: Exchange) -> bool:
    faults = (e.answered.faults if e.answered else () for e in (one, other))
    return one.status == other.status and len({*map(tuple, faults)}) == 1


def _is_bent(run: Execution) -> bool:
    return run.answered is None or bool(run.answered.faults) or run.given_up


def _could_run(exchange: Exchange) -> bool:
    """Whether a whole answer asks for a tool, with arguments that are an object."""
    uses = exchange.reply.tool_uses if exchange.reply else ()
    asked = _is_an_answer(exchange) and calls_tools(exchange) and are_told_apart(exchange)
    return asked and any(isinstance(use.input, dict) for use in uses)


def _is_an_answer(exchange: Exchange) -> bool:
    """Whether a model wrote the answer; a refusal for size may look like a message, even with
    calls."""
    return exchange.succeeded and not exchange.too_large


def _is_at_its_bound(trace: Trace, turn: Turn, n: int, repeats: int) -> bool:
    """Whether the turn had enough calls, requests or pauses for any agent to end it."""
    stops = [e.answered.stop for e in turn.main if e.answered and e.answered.n < n]
    most = max(len(turn.asks), len(stops) + 1)
    return most >= MAX_BOUND or stops.count("pause_turn") >= repeats or _is_dear(trace, turn, n)


def _is_dear(trace: Trace, turn: Turn, n: int) -> bool:
    """Whether the turn's cost or duration before event `n` may have spent its budget."""
    asked = [e for e in turn.exchanges if e.n < n]
    if any(e.answered and _COUNTS_TOO_MUCH.intersection(e.answered.faults) for e in asked):
        return True
    ends = [e.ended_ms for e in asked]
    stopped_ms = max([trace.events[n - 1].at_ms, *ends])  # a machine may sleep behind an answer
    lasted_ms = stopped_ms - min((e.called.at_ms for e in asked), default=stopped_ms)
    most = _own_budget(trace)
    is_spent = _spent(turn, n) >= (MAX_TOKENS if most is None else NEARLY * most)
    return is_spent or lasted_ms >= NEARLY * MAX_LASTING_S * 1000


def _own_budget(trace: Trace) -> int | None:
    """The tokens that a turn of this agent may cost, where its profile or the scenario says so."""
    said = trace.settings.get("checks", {}).get("budget_ceiling", {}).get("tokens")
    return said if isinstance(said, int) else None


def _spent(turn: Turn, n: int) -> int:
    """The tokens that a turn has cost before event `n`, by our count or by the answers' usage,
    whichever is more; also those of an answer that a fault has bent."""
    asked = [e for e in turn.exchanges if e.n < n]
    usages = [e.answered.usage if e.answered else {} for e in asked]
    told = [[_told(usage, names) for names in _COUNTS] for usage in usages]
    prompts = (max(e.called.tokens, prompt) for e, (prompt, _) in zip(asked, told, strict=True))
    return sum(prompts) + sum(said for _, said in told)


def _told(usage: Mapping[str, Json], names: Iterable[str]) -> int:
    counts = (usage.get(name) for name in names)
    return sum(count for count in counts if isinstance(count, int))


def _may_be_unread(exchange: Exchange) -> bool:
    """Whether an answer failed, or may have been unreadable for the agent's SDK."""
    return not exchange.succeeded or exchange.is_bent_by("http")


def _is_left_unread(turn: Turn, n: int) -> bool:
    """Whether the newest answer of the model before event `n` may be unread, or one after it.

    A failure explains a stop until an answer has come. An agent that read the answer of its retry
    knows no reason to stop.
    """
    answered = [e for e in turn.exchanges if e.answered and e.answered.n < n]
    since = takewhile(lambda e: e.purpose != "main" or _may_be_unread(e), reversed(answered))
    return any(map(_may_be_unread, since))


def _without_reason(trace: Trace, turn: Turn, stop: _Stop, repeats: int) -> Iterator[Finding]:
    """A stop for which the turn itself gives no reason: a bound, an unread answer, a repetition."""
    n = stop.n
    if _is_at_its_bound(trace, turn, n, repeats):
        return
    if _is_left_unread(turn, n) or (stop.rule == "ended" and _most_at_once(turn, n) >= repeats):
        return
    if not repeats_before(trace, turn, n, repeats):
        text, most = stop.text, _own_budget(trace)
        if most is not None:
            text += f"; it has spent {_spent(turn, n):,} of {most:,} tokens"
        yield Finding(f"no_false_stop.{stop.rule}", text, (n,), cause=Cause(tool=stop.tool))


def _most_at_once(turn: Turn, n: int) -> int:
    """How many equal calls an answer before event `n` holds."""
    asked = (a for a in turn.asks if a.exchange.n < n)
    equal = Counter((id(a.exchange), a.use.name, canonical(a.use.input)) for a in asked)
    return max(equal.values(), default=0)
