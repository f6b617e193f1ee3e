"""kill -9 at every write of the store in a ten-turn session with tools; by day at a seventh.

Acknowledged rows are not lost, no row is stored twice, and no effect happens again. Every message
is answered once, or again with a note that it may be a repetition. Wrong stores and gateways, which
pass without kills, are found by the same runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.agent import agent as reference
from harness.core.history.events import Called, Effected, Started, Stored
from harness.core.history.events import Killed as KilledEvent
from harness.core.history.history import History
from harness.core.values.calls import OutboxRequest, ToolRequest
from harness.core.values.messages import canonical
from harness.runner import run
from harness.targets import of_callable
from tests.stores import wrong_parts
from tests.stores.ten_turns import SESSION, TOOLS, TURNS, ByConversation
from tests.sweep.kill_points import KilledRun, every_kill_point, killed_at, points_of

pytestmark = pytest.mark.real

WRITES = TURNS * 3 + len(TOOLS) * 2
"""Each turn stores its message, its reply and the delivery; each tool a call and a result."""


@pytest.mark.parametrize(
    ("store", "step"),
    [
        pytest.param("sqlite", 1, marks=pytest.mark.nightly),
        pytest.param("postgres", 1, marks=pytest.mark.nightly),
        ("postgres", 7),
    ],
)
def test_nothing_is_lost_or_done_twice_wherever_the_agent_is_killed(
    store: str, step: int, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """At every point, or by day at each seventh: the three moments of a write take turns."""
    options = {"store": store}
    if store == "postgres":
        options["dsn"] = request.getfixturevalue("postgres_dsn")
    target = of_callable(reference, options)
    points = points_of(SESSION, target, ByConversation())
    tried = [killed_at(SESSION, target, point, ByConversation()) for point in points[::step]]
    wrong = {killed.point.at: complaints(killed) for killed in tried if complaints(killed)}
    with capsys.disabled():
        print(f"\n{figures(store, tried)}")
    assert wrong == {}
    assert len(points) == WRITES * 3
    assert {killed.verdict.verdict for killed in tried} == {"pass"}
    assert all(_was_killed(killed) for killed in tried)


def figures(store: str, tried: list[KilledRun]) -> str:
    """What was tried and what came of it, in a line."""
    lost, twice = (sum(len(getattr(k.audit, name)) for k in tried) for name in ("lost", "twice"))
    again = sum(len(effects_again(k.history)) for k in tried)
    kept = sum(k.audit.acknowledged for k in tried)
    findings = sum(len(k.verdict.findings) for k in tried)
    return (
        f"kill points, {store}: {len(tried)} tried of {WRITES * 3} (before, inside and "
        f"after each write); of {kept} acknowledged rows {lost} lost, {twice} doubled; {again} "
        f"effects repeated; {findings} findings"
    )


def complaints(killed: KilledRun) -> list[str]:
    """All that is wrong with a run that was killed."""
    verdict = killed.verdict
    return [
        *(f"{finding.code}: {finding.message}" for finding in verdict.findings),
        *verdict.doubts,
        *(f"lost: {what}" for what in killed.audit.lost),
        *(f"twice: {what}" for what in killed.audit.twice),
        *(f"happened again: {what}" for what in effects_again(killed.history)),
        *(f"not answered: {what}" for what in unanswered(killed.history)),
    ]


def effects_again(history: History) -> list[str]:
    """The orders for which a tool had its effect more than once; each is one call's in the tale."""
    calls = {e.key: e.request for e in history.events if isinstance(e, Called)}
    asked = [calls[e.key] for e in history.events if isinstance(e, Effected)]
    done = Counter((a.name, canonical(a.input)) for a in asked if isinstance(a, ToolRequest))
    return [f"{name} {input}" for (name, input), times in done.items() if times > 1]


def unanswered(history: History) -> Iterator[str]:
    """The messages to which nothing was said."""
    said = {e.request.in_reply_to for e in _sendings(history) if e.request.kind == "final"}
    yield from (f"m{n}" for n in range(1, TURNS + 1) if f"m{n}" not in said)


def _sendings(history: History) -> Iterator[Any]:
    return (e for e in history.events if isinstance(getattr(e, "request", None), OutboxRequest))


def _was_killed(killed: KilledRun) -> bool:
    events = killed.history.events
    kills = [e.at for e in events if isinstance(e, KilledEvent)]
    attempts = [e.attempt for e in events if isinstance(e, Started)]
    return kills == [killed.point.at] and attempts == [0, 1]


def test_the_session_passes_where_nobody_kills() -> None:
    plain = run(SESSION, reference, script=ByConversation())
    assert plain.verdict.verdict == "pass"
    effects = [e for e in plain.history.events if isinstance(e, Effected)]
    assert len(effects) == list(TOOLS.values()).count("pay")


def test_the_same_kill_is_the_same_history() -> None:
    target = of_callable(reference)
    point = next(p for p in points_of(SESSION, target, ByConversation()) if p.at == "store#3:after")
    first, second = (killed_at(SESSION, target, point, ByConversation()) for _ in range(2))
    assert first.history.events == second.history.events
    assert first.audit == second.audit


def test_a_row_is_seen_once_although_two_processes_look() -> None:
    target = of_callable(reference)
    point = points_of(SESSION, target, ByConversation())[20]
    events = killed_at(SESSION, target, point, ByConversation()).history.events
    added = [row.id for e in events if isinstance(e, Stored) for row in e.added]
    assert len(added) == len(set(added)) > TURNS


def _caught(agent: Callable[..., Any], opener: Any = None) -> list[str]:
    """What the first point finds at which something is wrong."""
    more = {"opener": opener} if opener else {}
    points = every_kill_point(SESSION, of_callable(agent), script=ByConversation(), **more)
    return next((complaints(killed) for killed in points if complaints(killed)), [])


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (wrong_parts.CommitsLate, "reload_equivalence.gone"),
        (wrong_parts.AcknowledgesFirst, "lost: the row"),
    ],
)
def test_a_store_that_says_too_early_that_it_has_stored_is_caught(kind: Any, code: str) -> None:
    found = _caught(reference, wrong_parts.opened(kind))
    assert any(said.startswith(code) for said in found), found


@pytest.mark.parametrize(
    ("agent", "code"),
    [
        (wrong_parts.says_it_again, "outbound_once.unmarked"),
        (wrong_parts.runs_them_again, "effect_once"),
    ],
)
def test_an_agent_that_goes_on_wrongly_after_a_kill_is_caught(agent: Any, code: str) -> None:
    found = _caught(agent)
    assert any(said.startswith(code) for said in found), found


def test_an_agent_that_delivers_before_it_stores_fails_even_without_a_kill() -> None:
    codes = [
        f.code
        for f in run(SESSION, wrong_parts.delivers_first, script=ByConversation()).verdict.findings
    ]
    assert "durable_first.reply" in codes
