"""What the past remembers of words: what came in, what was said, what was taken back."""

from __future__ import annotations

from harness.core.history.history import History, decode, encode
from harness.core.history.past import Past
from harness.core.values.calls import InboxRequest, OutboxRequest


def _taken(history: History, name: str, number: int, *, poll: bool = False, **fields: str) -> None:
    key = f"main/inbox#{number}"
    history.called(key=key, seam="inbox", request=InboxRequest(poll=poll))
    value = {"id": name, "session": "main", **fields}
    history.answered(key=key, seam="inbox", value=value)


def _said(history: History, text: str, kind: str = "final", session: str = "main") -> None:
    request = OutboxRequest(kind, text)  # type: ignore[arg-type]
    history.called(key="main/outbox#1", session=session, seam="outbox", request=request)


def _read_again(history: History) -> Past:
    return decode(encode(history.events)).past


def test_messages_stand_in_the_order_in_which_they_came_last() -> None:
    history = History()
    for number, name in enumerate(("m1", "m2", "m1"), start=1):
        _taken(history, name, number, text=f"{name}, time {number}")
    for past in (history.past, _read_again(history)):
        assert list(past.inbounds) == [("main", "m2"), ("main", "m1")]
        assert past.inbounds["main", "m1"]["text"] == "m1, time 3"


def test_what_was_said_last_at_the_end_of_a_turn() -> None:
    history = History()
    _said(history, "first")
    _said(history, "a part", kind="partial")
    _said(history, "second", session="ada")
    assert history.past.said == {"main": "first", "ada": "second"} == _read_again(history).said


def test_a_cancel_takes_the_open_turn_back_and_no_other() -> None:
    history = History()
    _taken(history, "m1", 1)
    _taken(history, "c1", 2, poll=True, kind="cancel")
    assert history.past.cancelled == {"main": 1} == _read_again(history).cancelled
    _taken(history, "m2", 3)
    assert history.past.cancelled["main"] != history.past.turn("main")


def test_a_cancel_between_turns_takes_nothing_back() -> None:
    history = History()
    _taken(history, "m1", 1)
    _said(history, "Done.")
    _taken(history, "c1", 2, kind="cancel")
    assert history.past.cancelled == {}
