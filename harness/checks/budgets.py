"""What a turn may cost with all that it sets off: requests, tokens, time, and other agents.

A turn of the user lasts until his next message, so what an agent does of its own accord afterwards
is on its bill; and so is what its sub-agents do, which are sessions that name their parent
(`session_families`). A bound is a setting: the defaults are far above what one message is worth.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import groupby

import msgspec

from harness.checks.declarations import counted_anew, needs
from harness.checks.evidence.model_answers import said_tokens
from harness.checks.evidence.session_families import Family, TurnName, children, root_turn
from harness.core.history.events import Answered, Called
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.verdict import Finding


@needs("model", told_by="run")
def budget_ceiling(
    history: History, *, tokens: int = 10_000_000, wall_s: float = 43_200.0
) -> Iterator[Finding]:
    """A turn with all that it sets off stays below a ceiling, and asks nothing more above it.

    `tokens`: a request is made although the requests before it had more than so many tokens, those
    of sub-agents and of what the agent does by itself after its reply included. `wall_s`: a request
    is made longer than that after the turn's first. The request that crosses the ceiling is no
    finding, for nobody knows before what an answer costs; the next one is, once a turn. Tokens are
    those of the prompt as counted here, and of the answer where its usage says them. Not meant: a
    cheap turn of many requests, and a new message of the user, which has a budget of its own; nor a
    recording, for which nobody has set a ceiling. An agent mends it by adding up what a turn and
    its children use and telling the user when it is spent. Source: invariant 18;
    anthropics/claude-code#68110.
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
    a finding. Not meant: many one after the other, within the total, and a new message of the user,
    which begins anew; sessions of the user's own have no parent. An agent mends it by taking the
    tool that makes sub-agents out of what a sub-agent is offered, and by counting all of a turn in
    one place. Source: invariant 19; anthropics/claude-code#68110.
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
