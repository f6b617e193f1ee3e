"""The store seam: recorded call by call where a fault is armed on it, and read into the trace."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.events import Answered, Called, Noted
from harness.core.history.history import History, decode, encode
from harness.core.transition.answer_event import record_steps
from harness.core.transition.transition import Transition
from harness.core.values.calls import Access, OutboundKind, OutboxRequest, StoreRequest
from harness.core.values.messages import digest, user
from harness.core.values.plans import Answer, Jump, Kept, Kill, Plan, Raise, Returned, Send, Sent
from tests.core import world


def _call(
    run: Transition, operation: str = "append", access: Access = "write", session: str = ""
) -> Plan:
    request = StoreRequest(operation, access=access, store="sqlite")
    return run.store(request, (b"row\n",), (user("hi"),), at_ms=7, session=session)


def _fired(run: Transition) -> list[str]:
    return [e.key for e in run.history.events if isinstance(e, Answered) and e.faults]


def test_a_call_is_recorded_with_what_it_writes_and_sends_it() -> None:
    run = world.run()
    assert _call(run, session="a") == (Send(b"row\n"), Answer(Kept()))
    noted, called, answered = run.history.events
    assert isinstance(noted, Noted)
    assert isinstance(called, Called)
    assert isinstance(answered, Answered)
    assert (called.key, called.at_ms, called.session) == ("a/store#1", 7, "a")
    assert called.request == StoreRequest("append", (digest(user("hi")),), "write", "sqlite")
    assert (answered.key, answered.outcome, answered.steps) == (
        "a/store#1",
        "ok",
        (Sent(1, 4), Returned()),
    )
    assert decode(encode(run.history.events)).events == run.history.events


@pytest.mark.parametrize(
    ("on", "when", "key"),
    [
        ("store", 2, "main/store#2"),
        ("store:write", 2, "main/store#4"),
        ("store:append", 1, "main/store#4"),
        ("store:read", 1, "main/store#2"),
        ("store:load", 1, "main/store#2"),
        ("store:open", 1, "main/store#1"),
    ],
)
def test_a_fault_counts_the_calls_of_the_store_that_it_is_armed_on(
    on: str, when: int, key: str
) -> None:
    run = world.run(fault={"kind": "clock.jumps_back", "on": on, "when": when})
    calls: list[tuple[str, Access]] = [
        ("open", "open"),
        ("load", "read"),
        ("accept", "write"),
        ("append", "write"),
        ("load", "read"),
    ]
    for operation, access in calls:
        _call(run, operation, access)
    assert _fired(run) == [key]
    assert run.is_faulty("store")


@pytest.mark.parametrize("fault", [None, {"kind": "clock.jumps_back", "on": "model"}])
def test_a_store_without_a_fault_is_not_asked_call_by_call(fault: dict[str, Any] | None) -> None:
    assert not world.run(fault=fault).is_faulty("store")


def test_the_past_knows_when_the_call_before_was_made() -> None:
    run = world.run()
    assert run.history.past.previous_ms == 0
    for at_ms in (5, 30, 40):
        world.ask(run, at_ms=at_ms)
    assert run.history.past.previous_ms == 30


class _Wrote:
    """A history of writes, and what the trace makes of them."""

    def __init__(self) -> None:
        self.history = History()

    def write(self, row: str, outcome: Any) -> None:
        """One write, with how it ended."""
        n = self.history.past.next_index("main", "store")
        key = f"main/store#{n}"
        self.history.called(
            key=key, seam="store", session="main", turn=1, request=StoreRequest("append", (row,))
        )
        self.history.answered(
            key=key, seam="store", session="main", turn=1, outcome=outcome, steps=(Raise("EIO"),)
        )

    @property
    def unstored(self) -> list[str]:
        """The rows that were refused for good."""
        turn = self.history.trace.turns["main", 1]
        return [row for request in turn.unstored for row in request.rows]


def test_a_write_is_refused_until_the_same_one_succeeds() -> None:
    wrote = _Wrote()
    for row, outcome in (("a", "error"), ("b", "error"), ("c", "ok"), ("a", "ok")):
        wrote.write(row, outcome)
    assert wrote.unstored == ["b"]


@pytest.mark.parametrize("kind", ["error", "notice", "partial"])
def test_a_user_who_is_told_knows_of_a_write_that_was_refused(kind: OutboundKind) -> None:
    wrote = _Wrote()
    wrote.write("a", "error")
    said = OutboxRequest(kind, "A part could not be stored.")
    wrote.history.called(key="main/outbox#1", seam="outbox", session="main", turn=1, request=said)
    assert wrote.history.trace.turns["main", 1].store_failed == (kind != "partial")


def test_a_fault_of_the_store_says_what_it_raises() -> None:
    run = world.run(fault={"kind": "persistence.io_error"})
    plan = _call(run)
    assert plan[0] == Raise("EIO")
    answered = run.history.events[-1]
    assert isinstance(answered, Answered)
    assert (answered.outcome, answered.steps[0]) == ("error", Raise("EIO"))


def test_jumps_and_kills_are_kept_as_they_are() -> None:
    plan = (Jump(5), Jump(5, 7), Kill(), Kill("lost"), Kill("reordered"))
    assert record_steps(plan) == plan
