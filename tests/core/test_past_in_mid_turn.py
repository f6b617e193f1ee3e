"""What the past keeps of messages that a reader takes while a turn runs."""

from __future__ import annotations

import pytest

from harness.core.history.history import History
from harness.core.history.past import Past
from harness.core.values.calls import InboxRequest, ModelRequest, OutboxRequest

MODEL = ModelRequest("m", ())


def read(history: History, name: str, session: str = "main") -> None:
    """A reader asks, and gets this message."""
    key = f"{session}/inbox#{history.past.calls['inbox'] + 1}"
    request = InboxRequest(reader=True)
    history.called(key=key, seam="inbox", session=session, request=request)
    history.answered(key=key, seam="inbox", value={"id": name, "session": session})


def working(*names: tuple[str, str]) -> tuple[History, Past]:
    """An agent that has begun with m1, and took these meanwhile."""
    history = History()
    read(history, "m1")
    history.called(key="main/model#1", seam="model", session="main", request=MODEL)
    for name, session in names:
        read(history, name, session)
    return history, history.past


def test_a_waiting_message_that_comes_twice_waits_once() -> None:
    _, past = working(("n1", "other"), ("m2", "main"), ("n1", "other"), ("m1", "main"))
    assert (past.waiting("other"), past.waiting("main")) == (("n1",), ("m2",))
    assert past.open_inbound("main") == "m1"


def test_a_turn_that_a_kill_cut_is_ended_by_its_reply_and_the_next_one_begins() -> None:
    history, past = working(("m2", "main"))
    history.called(key="main/inbox#3", seam="inbox", request=InboxRequest(reader=True))
    history.killed(at="main/model#1")
    assert past.turn_of_call("main", MODEL) == 1, (
        "the agent resumes it: nothing says that it gave it up"
    )
    key, reply = "main/outbox#1", OutboxRequest("final", "Bob is a builder.", in_reply_to="m1")
    history.called(key=key, seam="outbox", session="main", request=reply)
    history.answered(key=key, seam="outbox")
    assert (past.turn("main"), past.open_inbound("main")) == (2, "m2")


@pytest.mark.parametrize("is_stored", [False, True])
def test_what_a_kill_took_back_begins_when_it_comes_again_or_is_worked_on(is_stored: bool) -> None:
    """The agent had not accepted m2. If it had stored it all the same, a request tells."""
    history, past = working(("m2", "main"))
    history.killed(at="main/model#1")
    key, reply = "main/outbox#1", OutboxRequest("final", "Bob is a builder.", in_reply_to="m1")
    history.called(key=key, seam="outbox", session="main", request=reply)
    history.answered(key=key, seam="outbox")
    assert (past.turn("main"), past.open_inbound("main"), past.is_idle) == (1, "", True)
    if is_stored:
        history.called(key="main/model#2", seam="model", session="main", request=MODEL, turn=2)
    else:
        read(history, "m2")
    assert (past.turn("main"), past.open_inbound("main")) == (2, "m2")
    assert past.waiting("main") == ()


@pytest.mark.parametrize("calls", [0, 1])
def test_a_kill_takes_back_a_turn_of_which_no_event_tells(calls: int) -> None:
    """The end of m1's turn has begun that of m2, which comes again after the kill."""
    history, past = working(("m2", "main"))
    reply = OutboxRequest("final", "Bob is a builder.", in_reply_to="m1")
    history.called(key="main/outbox#1", seam="outbox", session="main", request=reply)
    history.answered(key="main/outbox#1", seam="outbox")
    for number in range(calls):
        key = f"main/model#{2 + number}"
        history.called(key=key, seam="model", session="main", request=MODEL, turn=2)
    history.killed(at="main/model#2")
    assert past.turn("main") == 1 + calls
    read(history, "m2")
    assert (past.turn("main"), past.open_inbound("main")) == (2 + calls, "m2")


def test_a_reply_that_is_sent_again_begins_no_turn_of_what_a_kill_took_back() -> None:
    history, past = working(("m2", "main"))
    history.killed(at="main/model#1")
    first = OutboxRequest("final", "Bob is a builder.", in_reply_to="m1")
    history.called(key="main/outbox#1", seam="outbox", session="main", request=first)
    history.answered(key="main/outbox#1", seam="outbox")
    assert past.waiting("main") == ("m2",)
    assert past.turn_of_call("main", first) == 1, "it repeats the reply to m1"
    assert past.turn_of_call("main", OutboxRequest("final", "Yes.", in_reply_to="m2")) == 2


def _cut_and_told_ahead() -> tuple[History, Past]:
    """A kill cut off m1, and the reader of the next life gets m2 ten seconds before it is due."""
    history, past = working()
    history.killed(at="main/model#1")
    request = InboxRequest(reader=True)
    history.called(key="main/inbox#2", seam="inbox", session="main", request=request, at_ms=5_000)
    value = {"id": "m2", "session": "main", "at_ms": 15_000}
    history.answered(key="main/inbox#2", seam="inbox", value=value)
    return history, past


def test_what_comes_later_waits_for_the_turn_that_a_kill_cut() -> None:
    history, past = _cut_and_told_ahead()
    assert (past.turn("main"), past.open_inbound("main")) == (1, "m1")
    assert past.waiting("main") == ("m2",)
    reply = OutboxRequest("final", "Bob is a builder.", in_reply_to="m1")
    history.called(key="main/outbox#1", seam="outbox", session="main", request=reply)
    history.answered(key="main/outbox#1", seam="outbox")
    assert (past.turn("main"), past.open_inbound("main")) == (2, "m2")


def test_an_agent_that_gives_the_cut_turn_up_begins_the_next_by_its_first_call() -> None:
    history, past = _cut_and_told_ahead()
    history.called(key="main/model#2", seam="model", session="main", request=MODEL, turn=2)
    assert (past.turn("main"), past.open_inbound("main")) == (2, "m2")


@pytest.mark.parametrize("given_up", [False, True])
def test_a_message_that_comes_at_once_waits_for_the_cut_turn_too(given_up: bool) -> None:
    history, past = working()
    history.killed(at="main/model#1")
    read(history, "n1")
    assert (past.turn("main"), past.open_inbound("main")) == (1, "m1")
    key, turn = "main/model#2", 1 + given_up
    history.called(key=key, seam="model", session="main", request=MODEL, turn=turn)
    assert (past.turn("main"), past.open_inbound("main")) == (turn, "n1" if given_up else "m1")
    assert past.waiting("main") == (() if given_up else ("n1",))


def test_a_turn_goes_on_beside_a_reader_until_its_reply_has_arrived() -> None:
    history, past = working()
    history.answered(key="main/model#1", seam="model")
    assert past.goes_on("main"), "its worker asks for a cancel; the reader does not get it"
    history.called(
        key="main/outbox#1", seam="outbox", session="main", request=OutboxRequest("final", "Here.")
    )
    history.answered(key="main/outbox#1", seam="outbox")
    assert not past.goes_on("main")
