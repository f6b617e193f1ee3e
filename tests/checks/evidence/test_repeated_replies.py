"""A reply may go out a second time after a kill, but not silently."""

from __future__ import annotations

import pytest

from harness.checks.message_delivery import outbound_once
from harness.core.history.history import History
from harness.core.values.calls import InboxRequest, ModelRequest, OutboxRequest, StoreRequest


def _history(first: str, *later: str, killed: bool) -> History:
    history = History()
    history.started(run="r", scenario="s", world="simulate", seams=("model", "inbox", "outbox"))
    history.called(key="main/inbox#1", seam="inbox", request=InboxRequest())
    delivered = {"id": "m1", "session": "main", "text": "hi"}
    history.answered(key="main/inbox#1", session="main", turn=1, seam="inbox", value=delivered)
    for number, text in enumerate((first, *later), start=1):
        if killed and number > 1:
            history.killed(at=f"store#{number}:before")
        at = {"key": f"main/outbox#{number}", "session": "main", "turn": 1, "seam": "outbox"}
        history.called(request=OutboxRequest("final", text, "m1", "ok"), **at)
        history.answered(**at)
    history.ended(how="returned")
    return history


@pytest.mark.parametrize(
    ("texts", "killed", "found"),
    [
        (("Hello.", "You may have this: Hello."), True, []),
        (("Hello.", "Again: Hello.", "Again: Hello."), True, []),
        (("Hello.", "Hello."), True, ["outbound_once.unmarked"]),
        (("Hello.", "Hello."), False, ["outbound_once.twice"]),
        (("Hello.", "Hel lo."), True, ["outbound_once.unmarked"]),
        (("Hello.", "Good bye."), True, ["outbound_once.twice"]),
        (("Hello.", "Again: Hello.", "Hello."), True, ["outbound_once.unmarked"]),
        (("Hello.", "You may have this: Hello."), False, ["outbound_once.twice"]),
    ],
)
def test_a_repetition_has_to_say_that_it_may_be_one(
    texts: tuple[str, ...], killed: bool, found: list[str]
) -> None:
    assert [f.code for f in outbound_once(_history(*texts, killed=killed))] == found


@pytest.mark.parametrize(("names", "found"), [("m2", []), ("m1", ["outbound_once.twice"])])
def test_a_reply_to_two_messages_may_be_sent_again_to_each(names: str, found: list[str]) -> None:
    """The one to m1 has arrived before that to m2; a second one to m1 is a repetition."""
    history = History()
    history.started(run="r", scenario="s", world="simulate", seams=("model", "inbox", "outbox"))
    history.called(key="main/inbox#1", seam="inbox", request=InboxRequest())
    delivered = {"id": "m1", "session": "main", "text": "hi"}
    history.answered(key="main/inbox#1", session="main", turn=1, seam="inbox", value=delivered)
    for number, (text, name) in enumerate(
        [("Hello.", "m1"), ("Again: Hello.", "m1"), ("Again: Hello.", names)], start=1
    ):
        if number == 2:
            history.killed(at="store#1:before")
        at = {"key": f"main/outbox#{number}", "session": "main", "turn": 1, "seam": "outbox"}
        both = ("m2",) if number == 1 else ()
        history.called(request=OutboxRequest("final", text, name, "ok", also=both), **at)
        history.answered(**at)
    history.ended(how="returned")
    assert [f.code for f in outbound_once(history)] == found


@pytest.mark.parametrize(
    ("faults", "found"),
    [(("persistence.stale_cursor",), []), ((), ["outbound_once.twice"])],
)
def test_an_older_copy_of_the_store_may_lack_the_note_of_a_delivery(
    faults: tuple[str, ...], found: list[str]
) -> None:
    """The session had gone on before the kill; the store that opens behind it is an older copy."""
    history = History()
    history.started(run="r", scenario="s", world="simulate", seams=("model", "inbox", "outbox"))

    def say(n: int, text: str) -> None:
        at = {"key": f"main/outbox#{n}", "session": "main", "turn": 1, "seam": "outbox"}
        history.called(request=OutboxRequest("final", text, "m1", "ok"), **at)
        history.answered(**at)

    for turn in (1, 2):
        at = {"key": f"main/inbox#{turn}", "session": "main", "seam": "inbox"}
        history.called(request=InboxRequest(), **at)
        delivered = {"id": f"m{turn}", "session": "main", "text": "hi"}
        history.answered(value=delivered, turn=turn, **at)
        asked = {"key": f"main/model#{turn}", "session": "main", "turn": turn, "seam": "model"}
        history.called(request=ModelRequest("m", ()), **asked)
        history.answered(**asked)
        if turn == 1:
            say(1, "Hello.")
    history.killed(at="main/tool#1")
    opened = {"key": "main/store#1", "session": "main", "turn": 2, "seam": "store"}
    history.called(request=StoreRequest("open", access="open"), **opened)
    history.answered(faults=faults, **opened)
    say(2, "Again: Hello.")
    history.ended(how="returned")
    assert [f.code for f in outbound_once(history) if f.code == "outbound_once.twice"] == found


def test_a_duplicate_of_a_message_that_was_answered_after_a_kill_needs_no_answer() -> None:
    history = History()
    history.started(run="r", scenario="s", world="simulate", seams=("model", "inbox", "outbox"))
    for turn in (1, 2, 3):
        delivered = {"id": "m1", "session": "main", "text": "hi"}
        at = {"key": f"main/inbox#{turn}", "session": "main", "turn": turn, "seam": "inbox"}
        history.called(request=InboxRequest(), **at)
        history.answered(value=delivered, **at)
        if turn == 1:
            history.killed(at="store#1:before")
        if turn == 2:
            sent = {"key": "main/outbox#1", "session": "main", "turn": 2, "seam": "outbox"}
            history.called(request=OutboxRequest("final", "Hello.", "m1", "ok"), **sent)
            history.answered(**sent)
    history.called(key="main/inbox#4", seam="inbox", request=InboxRequest())
    history.ended(how="returned")
    assert [turn.redelivery for turn in history.trace.turns.values()] == [False, False, True]
    assert not list(outbound_once(history))
