"""The reference agent survives every gateway fault, once, three times and always."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent import agent as reference
from harness.core.history.events import Effected, Killed
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    Times,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.faults import faults
from harness.runner import Run, run

GATEWAY = [kind for kind in faults() if kind.startswith("gateway.")]
KILLS = [kind for kind in GATEWAY if faults()[kind].kills]
ENDLESS = {
    kind for kind in GATEWAY if faults()[kind].seams == ("inbox",) and "attachment" not in kind
} - {"gateway.cancelled", "gateway.disconnected", "gateway.overtaken"}
"""With an endless inbox no run ends, so these faults and kills are not armed for all calls."""

ORDER = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}
SECOND = {"gateway.redelivered", "gateway.repeated_by_the_user", "gateway.echoed"}

SILENT = {*(f"gateway.{name}" for name in ("delivery_fails", "delivery_times_out", "flood_wait"))}
SILENT |= {"gateway.final_fails"}
"""A channel that accepts nothing can deliver no notice: the reply is kept as undelivered."""

IDLE = {"gateway.cancelled", "gateway.disconnected", "gateway.attachment_only"}
"""Struck by these in every turn, no turn ever comes to ask the model."""


def _told(kind: str, often: Times, when: Any = None, **fields: Any) -> Run:
    """Two turns, with a payment in the first."""
    usual = 2 if kind in SECOND | set(KILLS) or often == "once" else 1
    scenario = Scenario(
        name="payments",
        stream=kind == "gateway.killed_mid_answer",
        tools={
            "pay": ToolScript(
                input_schema=ORDER,
                script=(ToolTurn(ok="paid", effect="payment", times="forever"),),
            )
        },
        inbox=(InboxItem(id="m1", text="Pay order 1."), InboxItem(id="m2", text="And order 2?")),
        script=(
            Turn(use="pay", input={"order": 1}, optional=True),
            Turn(say="This is what came of order 1.", optional=True),
            Turn(say="Nobody asked for it.", optional=True, times="forever"),
        ),
        faults=(FaultSpec(kind=kind, when=when or usual, often=often, **fields),),
        limits=Limits(virtual_s=10 * 86_400.0, restarts=4),
    )
    return run(scenario, reference)


def _codes(told: Run) -> list[str]:
    assert told.verdict.doubts == ()
    return sorted({finding.code for finding in told.verdict.findings})


@pytest.mark.parametrize("kind", GATEWAY)
def test_the_reference_agent_survives_it_once(kind: str) -> None:
    assert _codes(_told(kind, "once")) == []


@pytest.mark.real
@pytest.mark.parametrize("kind", GATEWAY)
def test_the_reference_agent_survives_it_three_times(kind: str) -> None:
    expected = ["run.nothing_intercepted"] if kind in IDLE else []
    assert _codes(_told(kind, 3)) == expected


@pytest.mark.parametrize("kind", sorted(set(GATEWAY) - ENDLESS - set(KILLS)))
def test_the_reference_agent_survives_it_for_ever(kind: str) -> None:
    expected = ["run.nothing_intercepted"] if kind in IDLE else []
    silent = "unconfirmed" if kind == "gateway.delivery_times_out" else "missing"
    expected += [f"outbound_once.{silent}"] if kind in SILENT else []
    assert _codes(_told(kind, "forever")) == expected


@pytest.mark.real
@pytest.mark.parametrize("on", ["model", "tool", "inbox", "outbox"])
@pytest.mark.parametrize("at", ["before", "after"])
@pytest.mark.parametrize("when", [1, 2, 3])
def test_a_kill_in_every_phase_costs_no_effect_and_no_reply(on: str, at: str, when: int) -> None:
    calls = {"tool": 1, "outbox": 2}
    when = min(when, calls.get(on, 3))
    told = _told("gateway.killed", "once", when, on=on, settings={"at": at})
    assert _codes(told) == []
    assert [e.at for e in told.history.events if isinstance(e, Killed)] == [f"main/{on}#{when}"]
    assert [e.attempt for e in told.history.trace.starts] == [0, 1]
    payments = [e for e in told.history.events if isinstance(e, Effected)]
    assert len(payments) == (0 if (on, at) == ("tool", "before") else 1)
    replies = {s.request.in_reply_to for s in told.history.trace.sendings if s.ends_turn}
    assert replies == {"m1", "m2"}


def test_a_poison_message_is_parked_and_the_next_one_answered() -> None:
    told = _told("gateway.poison_message", "forever", {"after": 0})
    assert _codes(told) == []
    assert told.verdict.outcome == "failed_truthfully"
    ends = {s.request.in_reply_to: s.request.text for s in told.history.trace.sendings}
    assert "interrupted twice" in ends["m1"]
    assert ends["m2"].endswith("Nobody asked for it.") or "order 1" in ends["m2"]


def test_who_is_killed_too_often_is_not_started_again() -> None:
    told = _told("gateway.killed", "forever", 1, on="inbox")
    assert [e.attempt for e in told.history.trace.starts] == [0, 1, 2, 3, 4]
    ended = told.history.trace.ended
    assert ended is not None
    assert (ended.how, ended.text) == ("killed", "killed more often than limits.restarts = 4")
    assert told.verdict.verdict == "unknown", "it says nothing of the agent"
    assert ended.text in told.verdict.doubts[0]


def test_a_message_comes_again_after_a_restart() -> None:
    again = FaultSpec(kind="gateway.redelivered", when=3)
    killed = FaultSpec(kind="gateway.killed", on="outbox", settings={"at": "after"})
    scenario = Scenario(
        name="again",
        inbox=(InboxItem(id="m1", text="Good morning."), InboxItem(id="m2", text="Well?")),
        script=(Turn(say="Good morning to you."), Turn(say="Very well.")),
        faults=(killed, again),
    )
    told = run(scenario, reference)
    assert _codes(told) == []
    delivered = [d.inbound.id for d in told.history.trace.deliveries]
    assert delivered == ["m1", "m1", "m1", "m2"]
    assert len([a for a in told.history.trace.answers if a.seam == "model"]) == 2


def test_a_confirmation_that_is_lost_is_told_to_the_user() -> None:
    told = _told("gateway.confirmation_lost", "once", 1)
    first, second, *_ = told.history.trace.sendings
    assert first.request.text == "This is what came of order 1."
    assert second.request.text.endswith(f"you may have it already.)\n\n{first.request.text}")


def test_a_flood_is_waited_for() -> None:
    told = _told("gateway.flood_wait", "once", 1)
    first, second, *_ = told.history.trace.sendings
    assert second.called.at_ms - first.called.at_ms == 200_000
