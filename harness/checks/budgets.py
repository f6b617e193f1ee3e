"""What one turn may cost: requests, tokens, time, sub-agents and waiting.

A turn lasts until the user's next message, so later work of the agent and its sub-agents counts.
Waiting is time between two events that nothing explains. A streaming answer, a pause the provider
asks for, a running tool or sub-agent, and the machine's sleep explain it.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import groupby
from typing import NamedTuple

import msgspec

from harness.checks.declarations import counted_anew, excused_by, needs
from harness.checks.evidence.excuses import REDELIVERY, Case
from harness.checks.evidence.turn_outcomes import (
    Family,
    TurnName,
    asked_ms,
    children,
    root_turn,
    said_tokens,
)
from harness.core.history.events import Answered, AnyEvent, Called, Started
from harness.core.history.exchanges import ENDINGS, Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.calls import InboxRequest, OutboxRequest
from harness.core.values.plans import Jump, waited_ms
from harness.core.values.verdict import Finding


@needs("model", told_by="run")
def budget_ceiling(
    history: History, *, tokens: int = 10_000_000, wall_s: float = 43_200.0
) -> Iterator[Finding]:
    """A turn with all that it sets off stays below a ceiling, and asks nothing more above it.

    `tokens`: a request is made although the requests before it had more than so many tokens.
    Requests of sub-agents count too, and so does what the agent does by itself after its reply.
    `wall_s`: a request is made longer than that after the turn's first. The request that crosses
    the ceiling is no finding, for the cost of an answer is not known before; the next one is, once
    a turn. Tokens are those of the prompt as counted here, and of the answer where its usage says
    them.

    Not a finding: a cheap turn of many requests; a new message of the user, which has a budget of
    its own; a recording, for which no ceiling was set.

    An agent mends it by adding up what a turn and its children use and telling the user when it is
    spent. Source: invariant 18; anthropics/claude-code#68110.
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
    """What a turn has cost so far; `told` are the rules that it is known to break."""

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
        "wall_s": lasted_s > wall_s and f"has lasted {lasted_s:g} s",
    }
    for rule, what in broken.items():
        if what and rule not in bill.told:
            bill.told.add(rule)
            session, number = bill.turn
            text = f"{called.key} asks the model, and turn {number} of {session} {what}"
            events = tuple(dict.fromkeys((bill.first_n, bill.last_n, called.n)))
            yield Finding(f"budget_ceiling.{rule}", text, events)


@needs("model", told_by="run")
def bounded_spawn(
    history: History, *, depth: int = 2, width: int = 10, total: int = 50
) -> Iterator[Finding]:
    """A turn makes few sub-agents, and they make fewer.

    A sub-agent is a session that names its parent in its first call. `depth`: it has more than
    `depth` sessions above it (a child has one, a child's child two; 1 forbids children of
    children). `width`: more than `width` of a turn's sub-agents are at work at once, from their
    first event to their last. `total`: the turn makes more than `total` of them. Each one beyond is
    a finding.

    Not a finding: many one after the other, within the total; a new message of the user, which
    starts a new count. Sessions of the user's own have no parent.

    An agent mends it by not offering a sub-agent the tool that makes sub-agents. It also counts all
    sub-agents of a turn in one place. Source: invariant 19; anthropics/claude-code#68110.
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


@needs("model", "inbox", told_by="run")
@counted_anew("a kill")
def bounded_turn(history: History, *, max_requests: int = 50) -> Iterator[Finding]:
    """A turn makes at most `max_requests` main requests; the SDK's own retries do not count.

    An agent that is killed may begin the turn once more: each of its lives is counted by itself.
    Source: invariant 10.
    """
    for turn in history.trace.turns.values():
        requests = [e for e in turn.main if not e.called.sdk_retry]
        for life in _lives(history.trace, requests):
            if len(life) > max_requests:
                text = (
                    f"turn {turn.number} of {turn.session} makes more than {max_requests} requests"
                )
                yield Finding("bounded_turn.requests", text, (life[max_requests].n,))


def _lives(trace: Trace, requests: list[Exchange]) -> Iterator[list[Exchange]]:
    """The requests from kill to kill."""
    for _, life in groupby(requests, lambda e: bisect(trace.kills, e.n)):
        yield list(life)


class _Patience(NamedTuple):
    """The settings of the check, in milliseconds."""

    idle: float
    tool: float
    retry_after: float


class _Open(NamedTuple):
    """A turn that is worked on: its last event, and until when the time after it is explained."""

    event: Called | Answered
    until_ms: float


@needs("model", told_by="run")
@excused_by(silence=(REDELIVERY,))
def bounded_wait(
    history: History, *, idle_s: float = 180.0, tool_s: float = 1800.0, retry_after_s: float = 120.0
) -> Iterator[Finding | Case]:
    """In an open turn something happens every three minutes, and every tool call comes to an end.

    A turn is open from its message until its end is first said. `answer`: for more than `idle_s`
    seconds the model's answer says nothing; pings and comments keep a connection open and say
    nothing. `idle`: so long nothing happens and no answer is due: the agent sleeps. `tool`: a tool
    is waited for longer than `tool_s`. That its outcome reaches the model is asked by
    `history_faithful`.

    Not a finding: an answer that takes long and says something; a pause that an answer asks for
    with retry-after, up to `retry_after_s` (beyond it the turn is to end, and the user to be told);
    time asleep with the machine; the time before a message comes, and the delivery of a reply; a
    recording, which does not tell what was waited for.

    An agent mends it by a time-out for each read and each tool, and by a cap on retry-after. It
    also needs a watchdog that counts what is said and not the bytes. Source: invariant 20;
    earendil-works/pi#8331.
    """
    trace = history.trace
    most = _Patience(idle_s * 1000, tool_s * 1000, retry_after_s * 1000)
    family = children(trace)
    turns: dict[TurnName, _Open] = {}
    over: set[TurnName] = set()
    for event in trace.events:
        if isinstance(event, Started):
            turns.clear()
        if not isinstance(event, Called | Answered) or _asks_for_more(event):
            continue
        name = root_turn(family, event)
        last = turns.get(name)
        if last is not None and name not in over:
            turn = trace.turns.get(name)
            for finding in _waited(last, event, most):
                yield Case("silence", [finding], turn) if turn else finding
        until_ms = _explained_until(event, most)
        turns[name] = _Open(event, max(until_ms, last.until_ms) if last else until_ms)
        if _says_the_end(event):
            over.add(name)
    for name, last in turns.items():
        closed = _closed(trace, name, last) if name not in over else None
        if closed is not None:
            yield from _waited(last, closed, most)


def _asks_for_more(event: Called | Answered) -> bool:
    """Whether the agent asks for the next message, which is a wait for the user."""
    request = event.request if isinstance(event, Called) else None
    return isinstance(request, InboxRequest) and not request.poll


def _says_the_end(event: Called | Answered) -> bool:
    request = event.request if isinstance(event, Called) else None
    return isinstance(request, OutboxRequest) and request.kind in ENDINGS


def _closed(trace: Trace, name: TurnName, last: _Open) -> AnyEvent | None:
    """What closes a turn whose end was never said; None where it goes on, or where nobody knows: a
    message of another session closes it only if nothing follows in it until the run's end."""
    turn = trace.turns.get(name)
    if trace.ended is None or turn is None or turn.delivery is None:
        return None
    if turn.settled_n <= last.event.n:
        return None
    return trace.events[turn.settled_n - 1]


def _waited(last: _Open, event: AnyEvent, most: _Patience) -> Iterator[Finding]:
    """The wait between the last event of a turn and the next, if it is too long."""
    before, gap_ms = last.event, event.at_ms - last.event.at_ms
    silent_ms, within_ms = event.at_ms - last.until_ms, _waits_ms(before)
    where = f"turn {before.turn} of {before.session}"
    if before.seam == "tool" and min(gap_ms, within_ms) > most.tool:
        rule, text = "tool", f"{before.key} is waited for {gap_ms / 1000:g} s"
    elif silent_ms > most.idle and before.seam == "model" and gap_ms <= within_ms + most.idle:
        rule, text = "answer", f"{before.key} says nothing for {silent_ms / 1000:g} s"
    elif silent_ms > most.idle:
        rule, text = "idle", f"nothing happens for {silent_ms / 1000:g} s"
    else:
        return
    yield Finding(f"bounded_wait.{rule}", f"{where}: {text}", (before.n, event.n))


def _explained_until(event: Called | Answered, most: _Patience) -> float:
    """Until when the time behind an event is explained by it.

    Of an answer, all waits but the longest silence: whoever gave up earlier has waited less.
    """
    if isinstance(event, Called):
        return event.at_ms
    within_ms = _waits_ms(event)
    match event.seam:
        case "tool":
            explained_ms = min(within_ms, most.tool)
        case "inbox":
            explained_ms = within_ms
        case "model":
            explained_ms = within_ms - event.silent_ms + _pause_ms(event, most)
        case _:
            explained_ms = 0.0
    return (
        event.at_ms
        + explained_ms
        + sum(step.monotonic_ms for step in event.steps if isinstance(step, Jump))
    )


def _pause_ms(answered: Answered, most: _Patience) -> float:
    """The pause that an answer asks for, if an agent is to grant it."""
    pause_ms = asked_ms(answered.retry_after)
    return pause_ms if pause_ms <= most.retry_after else 0.0


def _waits_ms(event: Called | Answered) -> int:
    """The waits within an answer."""
    return waited_ms(event.steps) if isinstance(event, Answered) else 0
