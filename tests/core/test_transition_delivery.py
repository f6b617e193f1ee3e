"""The transition, the inbox and the outbox: which message comes when, and what is accepted."""

from __future__ import annotations

import pytest

from harness.core.scenario.scenario import InboxItem
from harness.core.values.calls import Inbound, InboxRequest, OutboxRequest
from harness.core.values.plans import Accepted, Answer, Close, Delivered, Plan, Returned, Send, Wait
from harness.core.values.profile import Profile
from tests.core import world


def inbound(plan: Plan) -> Inbound | None:
    answer = plan[-1]
    assert isinstance(answer, Answer)
    assert isinstance(answer.value, Delivered)
    return answer.value.inbound


def test_messages_in_order_then_the_end() -> None:
    run = world.run(inbox=(InboxItem(text="a"), InboxItem(text="b", when={"ms": 5000})))
    first = inbound(run.next_inbound(0))
    assert first == Inbound("m1", text="a")
    plan = run.next_inbound(100)
    assert inbound(plan) == Inbound("m2", text="b", at_ms=5000)
    assert world.answers(run)[-1].steps == (Wait(4900), Returned())
    assert inbound(run.next_inbound(5000)) is None
    assert [a.turn for a in world.answers(run)] == [1, 2, 0]


def test_the_next_question_ends_the_turn_before() -> None:
    run = world.run(inbox=(InboxItem(text="a"), InboxItem(text="b", session="s2")))
    run.next_inbound(0)
    assert run.history.past.open_inbound("main") == "m1"
    run.next_inbound(0)
    assert run.history.past.open_sessions == ("s2",)
    world.ask(run)
    assert world.answers(run)[-1].key == "s2/model#1"
    run.outbox(OutboxRequest("final", "x"), 0)
    assert run.history.past.open_sessions == ()


def test_a_message_that_waits_for_a_call_comes_after_it() -> None:
    run = world.run(
        inbox=(InboxItem(text="late", when={"after": "model#2"}), InboxItem(text="now"))
    )
    assert inbound(run.next_inbound(0)).text == "now"  # type: ignore[union-attr]
    world.ask(run)
    assert inbound(run.next_inbound(0)) is None
    world.ask(run)
    assert inbound(run.next_inbound(0)).text == "late"  # type: ignore[union-attr]


def test_a_cancel_reaches_the_busy_session_once_and_only_it() -> None:
    items = (
        InboxItem(text="a", when="start"),
        InboxItem(text="b", when="start"),
        InboxItem(kind="cancel", when={"after": "model#1"}),
    )
    run = world.run(inbox=items)
    run.next_inbound(0)
    assert not run.cancelled("main", 0)
    world.ask(run)
    assert not run.cancelled("other", 0)
    assert run.cancelled("main", 0), "a message that waits before it does not hide it"
    before = len(run.history.events)
    assert run.cancelled("main", 0)
    assert len(run.history.events) == before, "asking again is not an event"
    assert inbound(run.next_inbound(0)).text == "b"  # type: ignore[union-attr]
    assert not run.cancelled("main", 0)


@pytest.mark.parametrize("waits", [True, False])
def test_a_cancel_is_not_one_of_what_waits_once_its_stop_was_told(waits: bool) -> None:
    """The outbox is silent about the stop, so the turn is open; the agent goes on with the next."""
    items = (
        InboxItem(text="a", when="start"),
        InboxItem(kind="cancel", when={"after": "model#1"}),
        *(InboxItem(text="b", when={"after": "model#1"}) for _ in range(waits)),
    )
    run = world.run(inbox=items, profile=Profile(inbound="queue"))
    run.pushed(0)
    world.ask(run)
    assert run.cancelled("main", 0)
    assert (run.pushed(0) is not None) == waits
    stop = OutboxRequest("final", "Stopped.", in_reply_to="m1", status="cancelled")
    run.history.called(key="main/outbox#1", seam="outbox", session="main", turn=1, request=stop)
    run.history.answered(key="main/outbox#1", seam="outbox", outcome="timeout", complete=False)
    assert run.cancelled("main", 0) != waits


def test_an_idle_cancel_comes_through_the_inbox() -> None:
    run = world.run(inbox=(InboxItem(text="a"), InboxItem(kind="cancel")))
    run.next_inbound(0)
    assert not run.cancelled("main", 0)
    assert inbound(run.next_inbound(0)).kind == "cancel"  # type: ignore[union-attr]


def test_a_message_that_a_fault_withheld_comes_again() -> None:
    fault = {"kind": "transport.reset_before_headers", "on": "inbox"}
    run = world.run(fault=fault, inbox=(InboxItem(text="a"),))
    assert run.next_inbound(0) == (Close(reset=True),)
    assert not run.history.past.is_open("main")
    assert inbound(run.next_inbound(0)).text == "a"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("kind", "carried"), [("http.status", Send), ("transport.reset_before_headers", Close)]
)
def test_the_outbox_may_refuse_or_lose(kind: str, carried: type) -> None:
    run = world.run(fault={"kind": kind, "on": "outbox"})
    assert isinstance(run.outbox(OutboxRequest("final", "x"), 0)[0], carried)
    assert run.outbox(OutboxRequest("final", "x"), 0) == (Answer(Accepted()),)
    taken = [(a.complete, a.outcome) for a in world.answers(run)]
    assert taken == [(False, "error"), (True, "ok")]


def test_a_message_that_kills_take_back_behind_a_cut_turn_has_one_turn() -> None:
    """Each offer waits for m1, so none of them begins a turn, and one reply of m2 answers it."""
    run = world.run(inbox=(InboxItem(text="a", when="start"), InboxItem(text="b", when="start")))
    run.pushed(0)
    run.history.accepted(0)
    world.ask(run)
    for _ in range(2):
        run.history.killed(at="main/model#1")
        assert inbound(run.pushed(0)).id == "m2"  # type: ignore[arg-type, union-attr]
        assert world.answers(run)[-1].turn == 1
    for name in ("m1", "m2"):
        run.outbox(OutboxRequest("final", "Done.", in_reply_to=name), 0)
    run.history.ended(how="returned")
    turns = run.history.trace.turns.values()
    offers = [answer.n for answer in world.answers(run) if answer.seam == "inbox"]
    assert [turn.begun_n for turn in turns] == [0, offers[1]], "a row may be as old as that"
    assert [(turn.delivery.inbound.id, len(turn.endings)) for turn in turns if turn.delivery] == [
        ("m1", 1),
        ("m2", 1),
    ]


def test_a_stop_may_answer_what_a_kill_offers_again() -> None:
    """m2 came before the stop, and the agent had stored it; the second offer came behind it."""
    asked = [InboxItem(text=text, when="start") for text in ("a", "b")]
    stop = InboxItem(kind="cancel", when={"after": "model#1"})
    run = world.run(inbox=(*asked, stop))
    run.pushed(0)
    run.history.accepted(0)
    world.ask(run)
    run.pushed(0)
    run.history.killed(at="main/model#1")
    assert run.cancelled("main", 0)
    run.pushed(0)
    reply = OutboxRequest("final", "Stopped.", in_reply_to="m1", status="cancelled", also=("m2",))
    run.outbox(reply, 0)
    run.history.ended(how="returned")
    turns = run.history.trace.turns.values()
    assert [[each.inbound.id for each in turn.joined] for turn in turns if turn.delivery] == [
        ["m2"]
    ]


def test_a_message_that_comes_by_another_sessions_key_is_behind_the_one_that_waited() -> None:
    """m2's turn has begun by the end of m1's, and no event tells. `gateway.crowded` does this."""
    run = world.run(inbox=[InboxItem(text=text, when="start") for text in ("a", "b")])
    run.pushed(0)
    run.history.accepted(0)
    world.ask(run)
    run.pushed(0)
    run.history.accepted(0)
    run.outbox(OutboxRequest("final", "Done.", in_reply_to="m1"), 0)
    request, value = InboxRequest(reader=True), {"id": "x", "session": "main", "text": "c"}
    run.history.called(key="Main/inbox#3", seam="inbox", session="Main", request=request)
    assert run.history.past.comes_behind("main", "x")
    run.history.answered("Main/inbox#3", "inbox", 0, "main", 2, value=value)
    for name in ("m2", "x"):
        run.outbox(OutboxRequest("final", "Done.", in_reply_to=name), 0)
    run.history.ended(how="returned")
    turns = run.history.trace.turns.values()
    assert [turn.delivery.inbound.id for turn in turns if turn.delivery] == ["m1", "m2", "x"]
