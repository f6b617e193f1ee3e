"""The budgets of one turn: requests, tokens, time, sub-agents and waiting.

A turn lasts until the user's next message, so later work of the agent and its sub-agents counts.
Waiting is time between two events that nothing explains. A streaming answer, a pause the provider
asks for, a running tool or sub-agent, and the machine's sleep explain it.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import groupby, pairwise
from typing import NamedTuple

import msgspec

from harness.checks.evidence.declarations import counted_anew, excused_by, needs
from harness.checks.evidence.excuses import REDELIVERY, Case
from harness.checks.evidence.polling import polls
from harness.checks.evidence.turn_outcomes import asked_ms, said_tokens
from harness.core.history.events import Answered, AnyEvent, Called, Started
from harness.core.history.history import History
from harness.core.history.trace import Family, Trace, TurnName, children, root_turn
from harness.core.values.calls import InboxRequest, OutboxRequest
from harness.core.values.plans import Jump, waited_ms
from harness.core.values.verdict import Finding
from harness.core.values.visible_text import duration


@needs("model", told_by="run", place=260)
def budget_ceiling(
    history: History, *, tokens: int = 10_000_000, wall_s: float = 43_200.0
) -> Iterator[Finding]:
    """A turn and its sub-agents make no more requests once the turn has reached its ceiling.

    `tokens`: a request is made after the turn has used more than `tokens` tokens. Requests of
    sub-agents count too, and so do requests that the agent makes after its reply. `wall_s`: a
    request is made more than `wall_s` seconds after the turn's first request. The request that
    crosses the ceiling is not a finding, because the cost of an answer is not known before. The
    next request is a finding, once a turn. Prompt tokens are counted here; answer tokens come from
    the answer's usage, if it has one.

    Not a finding: a cheap turn of many requests; a new message of the user, which has its own
    budget; a recording, which has no ceiling.

    To fix it, add up the tokens and time of a turn and its children, and tell the user when the
    budget is spent. Source: invariant 18; anthropics/claude-code#68110.
    """
    family, bills = children(history.trace), dict[TurnName, _Bill]()
    for event in history.trace.events:
        if isinstance(event, Answered) and event.seam == "model":
            _bill(bills, family, event).tokens += said_tokens(event)
        elif isinstance(event, Called) and event.seam == "model":
            bill = _bill(bills, family, event)
            yield from _over(bill, event, tokens, wall_s)
            bill.tokens += event.tokens
            bill.last_n = event.n


class _Bill(msgspec.Struct):
    """The cost of a turn so far; `told` holds the rules that are already reported for it."""

    turn: TurnName
    first_n: int
    began_ms: int
    last_n: int
    tokens: int = 0
    told: set[str] = msgspec.field(default_factory=set)


def _bill(bills: dict[TurnName, _Bill], family: Family, event: Called | Answered) -> _Bill:
    turn = root_turn(family, event)
    if turn not in bills:
        bills[turn] = _Bill(turn, event.n, event.at_ms, event.n)
    return bills[turn]


def _over(bill: _Bill, called: Called, tokens: int, wall_s: float) -> Iterator[Finding]:
    lasted_s = (called.at_ms - bill.began_ms) / 1000
    broken = {
        "tokens": bill.tokens > tokens and f"has spent {bill.tokens} tokens",
        "wall_s": lasted_s > wall_s and f"has lasted {duration(lasted_s)}",
    }
    for rule, what in broken.items():
        if what and rule not in bill.told:
            bill.told.add(rule)
            session, number = bill.turn
            text = f"{called.key} asks the model, and turn {number} of {session} {what}"
            events = tuple(dict.fromkeys((bill.first_n, bill.last_n, called.n)))
            yield Finding(f"budget_ceiling.{rule}", text, events)


@needs("model", told_by="run", place=280)
def bounded_spawn(
    history: History, *, depth: int = 2, width: int = 10, total: int = 50
) -> Iterator[Finding]:
    """The sub-agents of a turn are limited in depth, in number at once, and in total.

    A sub-agent is a session that names its parent in its first call. `depth`: a sub-agent has more
    than `depth` sessions above it. A child has one, a child's child has two; a limit of 1 forbids
    children of children. `width`: more than `width` sub-agents of a turn work at once, from their
    first event to their last. `total`: the turn makes more than `total` of them. Each sub-agent
    over a limit is a finding.

    Not a finding: many sub-agents one after another, within the total; a new message of the user,
    which starts a new count. A session that the user starts has no parent.

    To fix it, do not offer a sub-agent the tool that makes sub-agents, and count all sub-agents of
    a turn in one place. Source: invariant 19; anthropics/claude-code#68110.
    """
    family = children(history.trace)
    last_n = {e.session: e.n for e in history.trace.events if e.session in family}
    made, live = Counter[TurnName](), dict[TurnName, list[int]]()
    for child in family.values():
        ends = live.setdefault(child.root, [])
        while ends and ends[0] < child.n:
            heappop(ends)
        heappush(ends, last_n[child.session])
        made[child.root] += 1
        counts = {"depth": child.depth, "width": len(ends), "total": made[child.root]}
        for rule, most in {"depth": depth, "width": width, "total": total}.items():
            if counts[rule] > most:
                text = f"{child.session}, made by {child.parent}, is a sub-agent too many"
                yield Finding(f"bounded_spawn.{rule}", f"{text}: {_TOO_MANY[rule]}", (child.n,))


_TOO_MANY = {
    "depth": "it has too many above it",
    "width": "too many are at work at once",
    "total": "too many were made in this turn",
}


@needs("model", "inbox", told_by="run", place=160)
@counted_anew("a kill")
def bounded_turn(
    history: History, *, max_requests: int = 50, pause_s: float = 5.0
) -> Iterator[Finding]:
    """A turn makes at most `max_requests` main requests; the SDK's own retries do not count, nor do
    requests to which a redirect leads, because an HTTP client makes them.

    Nor does a poll: an equal call with an equal result, after a pause of the agent of `pause_s`
    seconds or more. `budget_ceiling` bounds the time of a turn that polls.

    An agent may begin the turn again after a kill, so requests are counted from kill to kill.
    Source: invariant 10.
    """
    for turn in history.trace.turns.values():
        polled = polls(turn, pause_s) if turn.executions else set()
        led = {b.n for a, b in pairwise(turn.main) if 300 <= (a.status or 0) < 400}
        requests = [e for e in turn.main if not e.called.sdk_retry and e.n not in polled | led]
        for _, lived in groupby(requests, lambda e: bisect(history.trace.kills, e.n)):
            life = list(lived)
            if len(life) > max_requests:
                text = f"{turn.words} makes more than {max_requests} "
                yield Finding("bounded_turn.requests", f"{text}requests", (life[max_requests].n,))


class _Patience(NamedTuple):
    """The settings of the check, in milliseconds."""

    idle: float
    tool: float
    retry_after: float


class _Open(NamedTuple):
    """An open turn: its session, its last event, and the time up to which a wait after it is
    explained."""

    session: str
    event: Called | Answered
    until_ms: float


class _Wait(NamedTuple):
    """The time in which an answer is due in a session."""

    session: str
    at_ms: int
    end_ms: int


@needs("model", told_by="run", place=290)
@excused_by(silence=(REDELIVERY,))
def bounded_wait(
    history: History, *, idle_s: float = 180.0, tool_s: float = 1800.0, retry_after_s: float = 120.0
) -> Iterator[Finding | Case]:
    """In an open turn, something happens every three minutes and every tool call ends.

    A turn is open from its message until its end is first reported. `answer`: the model's answer
    has no content for more than `idle_s` seconds; pings and comments are not content. `idle`: for
    that long, nothing happens and no answer is due, so the agent sleeps. `tool`: the agent waits
    for a tool longer than `tool_s`.

    Not a finding: a slow answer with content; an answer due in another session; a pause that
    an answer asks for with retry-after, up to `retry_after_s`; sleep of the machine; the time
    before a message arrives, and the delivery of a reply; a recording, which does not show the
    reason of a wait. If retry-after is longer than `retry_after_s`, the turn must end and the user
    must be told.

    To fix it, set a timeout for each read and each tool, and cap retry-after. Also add a watchdog
    that counts content, not bytes. Source: invariant 20; earendil-works/pi#8331.
    """
    trace = history.trace
    most = _Patience(idle_s * 1000, tool_s * 1000, retry_after_s * 1000)
    family = children(trace)
    turns: dict[TurnName, _Open] = {}
    over: set[TurnName] = set()
    waits: list[_Wait] = []
    for event in trace.events:
        if isinstance(event, Started):
            turns.clear()
        if not isinstance(event, Called | Answered) or _asks_for_more(event):
            continue
        name = root_turn(family, event)
        last = turns.get(name)
        if last is not None and name not in over:
            turn = trace.turns.get(name)
            for finding in _waited(last, event, most, waits):
                yield Case("silence", [finding], turn) if turn else finding
        until_ms = _explained_until(event, most)
        turns[name] = _Open(name[0], event, max(until_ms, last.until_ms) if last else until_ms)
        if within_ms := _waits_ms(event):
            waits.append(_Wait(name[0], event.at_ms, event.at_ms + within_ms))
        if slept_ms := _slept_ms(event):  # the machine, with all sessions
            waits.append(_Wait("", event.at_ms, event.at_ms + slept_ms))
        if _says_the_end(event):
            over.add(name)
    for name, last in turns.items():
        closed = _closed(trace, name, last) if name not in over else None
        if closed is not None:
            yield from _waited(last, closed, most, waits)


def _asks_for_more(event: Called | Answered) -> bool:
    """Whether the agent asks for the next message, which is a wait for the user."""
    request = event.request if isinstance(event, Called) else None
    return isinstance(request, InboxRequest) and not request.poll


def _says_the_end(event: Called | Answered) -> bool:
    request = event.request if isinstance(event, Called) else None
    return isinstance(request, OutboxRequest) and request.closes


def _closed(trace: Trace, name: TurnName, last: _Open) -> AnyEvent | None:
    """Return the event that closes a turn without a reported end; None if the turn continues. A
    message of another session closes the turn only if the turn has no event after it. A message
    that was answered before and comes again needs nothing."""
    turn = trace.turns.get(name)
    if trace.ended is None or turn is None or turn.delivery is None:
        return None
    if turn.redelivery and last.event.seam == "inbox":
        return None
    if turn.settled_n <= last.event.n:
        return None
    return trace.events[turn.settled_n - 1]


def _waited(last: _Open, event: AnyEvent, most: _Patience, waits: list[_Wait]) -> Iterator[Finding]:
    """Yield a finding if the wait between the last event of a turn and the next is too long.

    An agent that works on one message at a time waits for the answers of other sessions too.
    """
    before, gap_ms = last.event, event.at_ms - last.event.at_ms
    within_ms = _waits_ms(before)
    silent_ms = event.at_ms - last.until_ms
    idle_ms = silent_ms - _pause_ms(before, event)
    where = f"turn {before.turn} of {before.session}"
    if before.seam == "tool" and min(gap_ms, within_ms) > most.tool:
        rule, text = "tool", f"{before.key} is waited for {duration(gap_ms / 1000)}"
    elif idle_ms > most.idle and before.seam == "model" and gap_ms <= within_ms + most.idle:
        rule, text = "answer", f"{before.key} says nothing for {duration(silent_ms / 1000)}"
    elif idle_ms > most.idle and idle_ms - _covered_ms(waits, last, event) > most.idle:
        rule, text = "idle", f"nothing happens for {duration(silent_ms / 1000)}"
    else:
        return
    yield Finding(f"bounded_wait.{rule}", f"{where}: {text}", (before.n, event.n))


_RETRY_MS = 10_000
"""The SDKs of Anthropic and OpenAI wait up to 8 s before a retry."""


def _pause_ms(before: Called | Answered, event: AnyEvent) -> int:
    """The pause before a retry: a history does not show when an agent gave a silent answer up."""
    is_retry = isinstance(event, Called) and event.seam == "model"
    is_silent = isinstance(before, Answered) and before.silent_ms > 0
    return _RETRY_MS if is_retry and is_silent else 0


def _covered_ms(waits: list[_Wait], last: _Open, event: AnyEvent) -> float:
    """How much of the time before an event, after what explains its wait, an answer to another
    session is due."""
    covered_ms, at_ms = 0.0, last.until_ms
    for wait in waits:
        if wait.session == last.session:
            continue
        end_ms = min(wait.end_ms, event.at_ms)
        covered_ms += max(0.0, end_ms - max(wait.at_ms, at_ms))
        at_ms = max(at_ms, end_ms)
    return covered_ms


def _explained_until(event: Called | Answered, most: _Patience) -> float:
    """The time, in milliseconds, up to which an event explains the wait after it.

    An answer explains all its waits except the longest silence, because an agent that gave up
    earlier waited less.
    """
    if isinstance(event, Called):
        return event.at_ms
    within_ms = _waits_ms(event)
    match event.seam:
        case "tool":
            explained_ms = min(within_ms, most.tool)
        case "inbox" | "approval":
            explained_ms = within_ms
        case "model":
            pause_ms = asked_ms(event.retry_after)
            heeded_ms = pause_ms if pause_ms <= most.retry_after else 0.0
            explained_ms = within_ms - event.silent_ms + heeded_ms
        case _:
            explained_ms = 0.0
    return event.at_ms + explained_ms + _slept_ms(event)


def _slept_ms(event: Called | Answered) -> int:
    steps = event.steps if isinstance(event, Answered) else ()
    return sum(step.monotonic_ms for step in steps if isinstance(step, Jump))


def _waits_ms(event: Called | Answered) -> int:
    """The waits within an answer, in milliseconds."""
    return waited_ms(event.steps) if isinstance(event, Answered) else 0
