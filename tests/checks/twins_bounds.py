"""Slow twins of the checks of bounds: each rule is computed from all events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.values.calls import InboxRequest, OutboxRequest
from harness.core.values.plans import Jump, Wait

Found = set[tuple[str, int]]
"""Rules with the event at which each is broken."""


def _calls(history: History) -> list[Called | Answered]:
    return [e for e in history.events if isinstance(e, Called | Answered)]


def _parents(history: History) -> dict[str, Called]:
    """The first model call of each session that was made by one that had called before."""
    found: dict[str, Called] = {}
    seen: list[str] = []
    for event in _calls(history):
        if isinstance(event, Called) and event.seam == "model":
            if event.session not in seen and event.parent in seen:
                found[event.session] = event
            seen.append(event.session)
    return found


def _root(history: History, event: Called | Answered) -> tuple[str, int]:
    """The user's turn that an event belongs to, by climbing up."""
    parents, session, turn = _parents(history), event.session, event.turn
    while session in parents and parents[session].n <= event.n:
        first = parents[session]
        session = first.parent
        turn = [
            e.turn
            for e in _calls(history)
            if e.session == session and e.n < first.n and isinstance(e, Called)
            and e.seam == "model"
        ][-1]  # fmt: skip
    return session, turn


def spawns(history: History, depth: int, width: int, total: int) -> Found:
    """Each sub-agent that is one too many."""
    parents = _parents(history)
    last = {e.session: e.n for e in _calls(history)}
    found: Found = set()
    for session, first in parents.items():
        root = _root(history, first)
        family = [s for s, f in parents.items() if _root(history, f) == root and f.n <= first.n]
        above, name = 0, session
        while name in parents:
            above, name = above + 1, parents[name].parent
        live = [s for s in family if last[s] >= first.n]
        for rule, is_over in (
            ("depth", above > depth), ("width", len(live) > width), ("total", len(family) > total)
        ):  # fmt: skip
            found |= {(rule, first.n)} if is_over else set()
    return found


def budgets(history: History, tokens: int, wall_s: float) -> Found:
    """The first request of each turn that comes when nothing is left."""
    found: Found = set()
    told: set[Any] = set()
    for event in _calls(history):
        if not isinstance(event, Called) or event.seam != "model":
            continue
        root = _root(history, event)
        before = [e for e in _calls(history) if e.n < event.n and _root(history, e) == root]
        before = [e for e in before if e.seam == "model"]
        spent = sum(
            e.tokens if isinstance(e, Called) else e.usage.get("output_tokens", 0) for e in before
        )
        lasted_ms = event.at_ms - before[0].at_ms if before else 0
        for rule, is_over in (("tokens", spent > tokens), ("wall_s", lasted_ms > wall_s * 1000)):
            if is_over and (root, rule) not in told:
                told.add((root, rule))
                found.add((rule, event.n))
    return found


def waits(history: History, idle_s: float, tool_s: float, retry_after_s: float) -> Found:
    """Each wait that is too long, by the event that ends it."""
    roots = {e.n: _root(history, e) for e in _calls(history) if not _asks(e)}
    found: Found = set()
    for root in set(roots.values()):
        events = [e for e in _calls(history) if roots.get(e.n) == root]
        turn = history.trace.turns[root]
        ends = [e.n for e in events if isinstance(e, Called) and _ends(e)]
        over = history.trace.ended is not None and turn.delivery
        owes = not (turn.redelivery and events[-1].seam == "inbox")
        closed = over and owes and turn.settled_n > events[-1].n and not ends
        line = [*events, *([history.events[turn.settled_n - 1]] if closed else [])]
        for place, event in enumerate(line[1:], start=1):
            if ends and event.n > ends[0]:
                break
            explained = max(_explained(e, tool_s, retry_after_s) for e in events[:place])
            before = events[place - 1]
            gap, silent = event.at_ms - before.at_ms, event.at_ms - explained
            if isinstance(before, Answered) and before.silent_ms and isinstance(event, Called):
                silent -= 10_000 if event.seam == "model" else 0
            within = sum(_waits(before))
            if before.seam == "tool" and min(gap, within) > tool_s * 1000:
                found.add(("tool", event.n))
            elif silent > idle_s * 1000:
                is_answer = before.seam == "model" and gap <= within + idle_s * 1000
                seen = [e for e in _calls(history) if e.n < event.n or place == len(events)]
                due = {ms for e in seen for ms in range(e.at_ms, e.at_ms + sum(_sleeps(e)))}
                seen = [e for e in seen if roots.get(e.n, root)[0] != root[0]]
                due |= {ms for e in seen for ms in range(e.at_ms, e.at_ms + sum(_waits(e)))}
                covered = sum(explained <= ms < event.at_ms for ms in due)
                if is_answer or silent - covered > idle_s * 1000:
                    found.add(("answer" if is_answer else "idle", event.n))
    return found


def _asks(event: Called | Answered) -> bool:
    request = event.request if isinstance(event, Called) else None
    return isinstance(request, InboxRequest) and not request.poll


def _ends(event: Called) -> bool:
    return isinstance(event.request, OutboxRequest) and event.request.kind in ("final", "error")


def _waits(event: Called | Answered) -> Iterator[int]:
    if isinstance(event, Answered):
        for step in event.steps:
            if isinstance(step, Wait):
                yield step.ms


def _sleeps(event: Called | Answered) -> Iterator[int]:
    """The machine sleeps with all sessions."""
    steps = event.steps if isinstance(event, Answered) else ()
    yield from (step.monotonic_ms for step in steps if isinstance(step, Jump))


def _explained(event: Called | Answered, tool_s: float, retry_after_s: float) -> float:
    if isinstance(event, Called):
        return event.at_ms
    within = sum(_waits(event))
    asleep = sum(_sleeps(event))
    pause_s = float(event.retry_after or 0)
    by_seam = {
        "tool": min(within, tool_s * 1000),
        "inbox": within,
        "model": within - event.silent_ms + (pause_s * 1000 if pause_s <= retry_after_s else 0),
    }
    return event.at_ms + asleep + by_seam.get(event.seam, 0)
