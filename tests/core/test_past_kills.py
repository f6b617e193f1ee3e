"""How a kill changes the past: the inbox delivers unconfirmed messages again."""

from __future__ import annotations

from harness.core.history.history import History, decode, encode
from harness.core.scenario.inbox import Entry, Inbox
from harness.core.values.calls import Inbound, InboxRequest, OutboxRequest


def _taken(history: History, name: str, number: int) -> None:
    key = f"main/inbox#{number}"
    history.called(key=key, seam="inbox", request=InboxRequest())
    history.answered(key=key, seam="inbox", value={"id": name, "session": "main"})


def _said(history: History) -> None:
    history.called(
        key="main/outbox#1", session="main", seam="outbox", request=OutboxRequest("final", "Done.")
    )
    history.answered(key="main/outbox#1", session="main", seam="outbox")


def test_a_message_that_was_not_confirmed_comes_again() -> None:
    history = History()
    _taken(history, "m1", 1)
    _taken(history, "m2", 2)
    history.killed(at="store#1:before")
    assert (history.past.delivered["main", "m1"], history.past.delivered["main", "m2"]) == (1, 0)


def test_an_answer_does_not_confirm_but_the_next_question_does() -> None:
    history = History()
    _taken(history, "m1", 1)
    _said(history)
    history.killed(at="store#5:before")
    assert history.past.delivered["main", "m1"] == 0
    _taken(history, "m1", 2)
    history.called(key="main/inbox#3", seam="inbox", request=InboxRequest())
    history.killed(at="store#5:before")
    assert history.past.delivered["main", "m1"] == 1


def test_a_second_kill_takes_nothing_back_twice() -> None:
    history = History()
    _taken(history, "m1", 1)
    history.killed(at="store#1:before")
    history.killed(at="store#1:before")
    assert history.past.delivered["main", "m1"] == 0


def test_a_history_that_is_read_again_knows_the_same() -> None:
    history = History()
    _taken(history, "m1", 1)
    history.killed(at="store#1:before")
    history.past.see_killed()
    again = decode(encode([history.started(run="r", scenario="s"), *history.events[:-1]]))
    assert again.past.delivered == history.past.delivered


def test_a_message_of_a_fault_comes_again_once() -> None:
    """A fault puts it in where a message of another session is due."""
    history, inbox = History(), Inbox([Entry(Inbound("m1"), idle=True)])
    history.called(key="main/inbox#1", seam="inbox", request=InboxRequest())
    made = {"id": "fault-1", "session": "side", "text": "news"}
    history.answered(key="main/inbox#1", session="side", seam="inbox", value=made)
    assert inbox.undone(history.past) is None
    history.killed(at="main/inbox#1")
    assert inbox.undone(history.past) == Inbound("fault-1", "side", "news")
    history.called(key="side/inbox#2", seam="inbox", request=InboxRequest())
    history.answered(key="side/inbox#2", session="side", seam="inbox", value=made)
    assert inbox.undone(history.past) is None
    _taken(history, "m1", 3)
    history.killed(at="main/inbox#3")
    assert inbox.undone(history.past) is None, "the inbox itself gives it again"
