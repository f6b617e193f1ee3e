"""What a turn may cost with everything that it sets off: tokens, time, and other agents.

A turn of the user lasts until his next message, so what an agent does of its own accord afterwards
is on its bill; and so is what its sub-agents do, which are sessions that name their parent
(`families`). A bound is a setting: the defaults are far above what one message is worth.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.families import Child, TurnName, children, root_turn
from harness.core.exchanges import Exchange
from harness.core.history import History
from harness.core.ports import needs
from harness.core.verdict import Finding


@needs("model")
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
    if history.trace.world == "recording":
        return
    family = children(history.trace)
    spent: dict[TurnName, int] = {}
    first: dict[TurnName, Exchange] = {}
    last: dict[TurnName, Exchange] = {}
    told: set[tuple[TurnName, str]] = set()
    for exchange in history.trace.exchanges:
        turn = root_turn(family, exchange.called)
        start = first.setdefault(turn, exchange)
        lasted_ms = exchange.called.at_ms - start.called.at_ms
        over = {"tokens": spent.get(turn, 0) > tokens, "wall_s": lasted_ms > wall_s * 1000}
        for rule in (rule for rule, is_over in over.items() if is_over):
            if (turn, rule) not in told:
                told.add((turn, rule))
                yield _over(rule, turn, (start, last[turn], exchange))
        spent[turn] = spent.get(turn, 0) + cost_tokens(exchange)
        last[turn] = exchange


def cost_tokens(exchange: Exchange) -> int:
    """The tokens of a request and its answer, as far as they are known."""
    usage = exchange.answered.usage if exchange.answered else {}
    said = usage.get("output_tokens", usage.get("completion_tokens", 0))
    return exchange.called.tokens + (said if isinstance(said, int) else 0)


def _over(rule: str, turn: TurnName, exchanges: tuple[Exchange, ...]) -> Finding:
    what = "has spent its tokens" if rule == "tokens" else "has lasted too long"
    text = f"{exchanges[-1].called.key} asks the model, and turn {turn[1]} of {turn[0]} {what}"
    events = tuple(dict.fromkeys(exchange.n for exchange in exchanges))
    return Finding(f"budget_ceiling.{rule}", text, events)


@needs("model")
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
    ended = _last_events(history, family)
    made: dict[TurnName, list[Child]] = {}
    for child in family.values():
        others = made.setdefault(child.root, [])
        live = sum(ended[other.session] > child.n for other in others) + 1 if others else 1
        others.append(child)
        over = {
            "depth": child.depth > depth,
            "width": live > width,
            "total": len(others) > total,
        }
        for rule in (rule for rule, is_over in over.items() if is_over):
            text = f"{child.session}, made by {child.parent}, is a sub-agent too many"
            yield Finding(f"bounded_spawn.{rule}", f"{text} ({_LIMITS[rule]})", (child.n,))


_LIMITS = {
    "depth": "it has too many above it",
    "width": "too many are at work at once",
    "total": "too many were made in this turn",
}


def _last_events(history: History, family: dict[str, Child]) -> dict[str, int]:
    """The last event of each child."""
    return {e.session: e.n for e in history.trace.events if e.session in family}
