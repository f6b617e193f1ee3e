"""Which turn a request belongs to, where a message that was answered has come again."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from harness.core.history.history import History
from harness.core.transition.messages_reached import reached
from harness.core.transition.ports import Reading
from harness.core.values.calls import InboxRequest, ModelRequest, OutboxRequest
from harness.core.values.messages import Message, Text
from harness.core.values.profile import Profile

TEXTS = {"m1": "What is my name?", "s1": "hello", "m2": "Are you still there?"}
ASKED, LATER = TEXTS["m1"], TEXTS["m2"]


def read(history: History, name: str) -> None:
    """A reader asks, and gets this message."""
    session = "side" if name == "s1" else "main"
    key = f"{session}/inbox#{history.past.calls['inbox'] + 1}"
    history.called(key=key, seam="inbox", session=session, request=InboxRequest(reader=True))
    value = {"id": name, "session": session, "text": TEXTS[name]}
    history.answered(key=key, seam="inbox", value=value)


def answered_and_again(*names: str) -> History:
    """m1 has had its reply; after a restart these messages come."""
    history, request = History(), ModelRequest("m", ())
    read(history, "m1")
    history.called(key="main/model#1", seam="model", session="main", turn=1, request=request)
    reply = OutboxRequest("final", "Bob.", in_reply_to="m1")
    history.called(key="main/outbox#1", seam="outbox", session="main", turn=1, request=reply)
    history.answered(key="main/outbox#1", seam="outbox")
    history.killed(at="main/outbox#1")
    for name in names:
        read(history, name)
    return history


@pytest.mark.parametrize(
    ("names", "begun"), [(("s1", "m1", "m2"), 1), (("m1", "s1", "m2"), 2)], ids=["waits", "begun"]
)
@pytest.mark.parametrize("is_dropped", [False, True])
def test_the_request_says_whether_what_came_again_was_dropped(
    names: tuple[str, ...], begun: int, is_dropped: bool
) -> None:
    history = answered_and_again(*names)
    assert history.past.turn("main") == begun
    said = (LATER,) if is_dropped else (ASKED, LATER)
    before = [Message("user", (Text(ASKED),)), Message("assistant", (Text("Bob."),))]
    added = tuple(Message("user", (Text(text),)) for text in said)
    reading = Reading(model="m", messages=[*before, *added], keep=2, added=added)
    found = reached(history, "main", reading, before)
    assert found == ((3, ()) if is_dropped else (2, ("m2",)))
    request = ModelRequest("m", (), took=found[1])
    key, turn = "main/model#2", found[0]
    history.called(key=key, seam="model", session="main", turn=turn, request=request)
    past = history.past
    assert (past.turn("main"), past.open_inbound("main")) == (turn, "m2" if is_dropped else "m1")
    assert past.waiting("main") == ()


def _read_on(text: str) -> History:
    """A model works on m1, and the reader has taken m3."""
    history, request = History(), ModelRequest("m", ())
    read(history, "m1")
    history.called(key="main/model#1", seam="model", session="main", turn=1, request=request)
    key = "main/inbox#2"
    history.called(key=key, seam="inbox", session="main", request=InboxRequest(reader=True))
    value = {"id": "m3", "session": "main", "text": text}
    history.answered(key=key, seam="inbox", value=value)
    return history


@pytest.mark.parametrize("more", [True, False])
def test_words_behind_an_answer_are_not_those_of_the_message_before_it(more: bool) -> None:
    """Two equal messages, and an agent that takes the second one in after an answer of the turn."""
    history = _read_on(ASKED)
    before = [Message("user", (Text(ASKED),))]
    added = (Message("assistant", (Text("Bob."),)), *before) if more else ()
    reading = Reading(model="m", messages=[*before, *added], keep=1, added=added)
    assert reached(history, "main", reading, before) == (1, ("m3",) if more else ())


@pytest.mark.parametrize("is_told", [False, True])
@pytest.mark.parametrize("policy", ["steer", "queue"])
def test_after_a_kill_an_agent_that_steers_takes_in_what_has_come(
    policy: Literal["steer", "queue"], is_told: bool
) -> None:
    """It goes on with the cut turn, unless it has told the model that it gave that up."""
    history = _read_on(LATER)
    history.past.profile = Profile(inbound=policy)
    history.called(
        key="main/inbox#3", seam="inbox", session="main", request=InboxRequest(reader=True)
    )
    history.killed(at="main/model#1")
    given_up = [Message("assistant", (Text("I gave up."),))] * is_told
    before, added = [Message("user", (Text(ASKED),))], [*given_up, Message("user", (Text(LATER),))]
    reading = Reading(model="m", messages=[*before, *added], keep=1, added=tuple(added))
    is_taken = policy == "steer" and not is_told
    assert reached(history, "main", reading, before) == ((1, ("m3",)) if is_taken else (2, ()))


@pytest.mark.parametrize("sent", ["half ?, you see", "half \ufffd, you see"])
def test_a_mark_may_stand_for_half_a_character_of_what_came(sent: str) -> None:
    history = _read_on("half \\ud83d, you see")
    before = [Message("user", (Text(ASKED),)), Message("assistant", (Text("Bob."),))]
    added = (Message("user", (Text(sent),)),)
    reading = Reading(model="m", messages=[*before, *added], keep=2, added=added)
    assert reached(history, "main", reading, before) == (1, ("m3",))


@pytest.mark.parametrize("times", [1, 2])
def test_words_of_the_stored_session_are_not_those_of_a_message_that_waits(times: int) -> None:
    """The stored session ends with words of the user, and the message that waits has the same."""
    history = History()
    read(history, "m1")
    key = "main/inbox#2"
    history.called(key=key, seam="inbox", session="main", request=InboxRequest(reader=True))
    value = {"id": "m3", "session": "main", "text": "Hello."}
    history.answered(key=key, seam="inbox", value=value)
    stored = [Message("user", (Text("Hello."),))]
    added = (Message("user", (Text(ASKED),)), *stored[: times - 1])
    reading = Reading(model="m", messages=[*stored, *added], keep=1, added=added)
    assert reached(history, "main", reading, stored) == (1, ("m3",) if times > 1 else ())


def test_words_of_the_assistant_that_a_shorter_request_leaves_out_are_not_the_users() -> None:
    """The first requests were too long. The next one lacks what the assistant said, and m3 says
    the same."""
    history = _read_on("Hello.")
    old = [Message("user", (Text("Hi."),)), Message("assistant", (Text("Hello."),))]
    own = Message("user", (Text(ASKED),))
    note = Message("user", (Text("(Earlier messages were left out.)"),))
    added = (note, own, Message("user", (Text("Hello."),)))
    reading = Reading(model="m", messages=[*added], keep=0, added=added)
    assert reached(history, "main", reading, [*old, own]) == (1, ("m3",))


def test_words_of_the_turn_may_begin_those_of_what_has_come() -> None:
    history = _read_on(f"{ASKED} Please.")
    before = [Message("user", (Text(ASKED),))]
    added = (Message("user", (Text(f"{ASKED} Please."),)),)
    reading = Reading(model="m", messages=[*before, *added], keep=1, added=added)
    assert reached(history, "main", reading, before) == (1, ("m3",))


def test_a_request_after_a_turn_is_that_of_a_blank_message_that_waits() -> None:
    """No word of it can be looked for: an agent writes what it likes in its place."""
    history = History()
    read(history, "m1")
    where: dict[str, Any] = {"session": "main", "turn": 1}
    history.called(**where, key="main/model#1", seam="model", request=ModelRequest("m", ()))
    read(history, "s1")
    reply = OutboxRequest("final", "Bob.", in_reply_to="m1")
    history.called(**where, key="main/outbox#1", seam="outbox", request=reply)
    history.answered(**where, key="main/outbox#1", seam="outbox")
    key, blank = "main/inbox#3", {"id": "m9", "session": "main", "text": " "}
    history.called(key=key, seam="inbox", session="main", request=InboxRequest(reader=True))
    history.answered(key=key, seam="inbox", session="main", value=blank)
    assert history.past.waiting("main") == ("m9",), "the other chat waits too"
    before = [Message("user", (Text(ASKED),)), Message("assistant", (Text("Bob."),))]
    added = (Message("user", (Text("(empty message)"),)),)
    reading = Reading(model="m", messages=[*before, *added], keep=2, added=added)
    assert reached(history, "main", reading, before) == (2, ())


@pytest.mark.parametrize("times", [1, 2])
def test_equal_words_behind_a_copy_are_those_of_the_new_message(times: int) -> None:
    """m1 comes again after its reply, and an agent drops it. Then m4 says the same."""
    history = answered_and_again("m1", "s1")
    value = {"id": "m4", "session": "main", "text": ASKED}
    key = "main/inbox#9"
    history.called(key=key, seam="inbox", session="main", request=InboxRequest(reader=True))
    history.answered(key=key, seam="inbox", value=value)
    assert history.past.waiting("main") == ("m4",)
    before = [Message("user", (Text(ASKED),)), Message("assistant", (Text("Bob."),))]
    added = (Message("user", (Text(ASKED),)),) * times
    reading = Reading(model="m", messages=[*before, *added], keep=2, added=added)
    assert reached(history, "main", reading, before) == ((3, ()) if times == 1 else (2, ("m4",)))
