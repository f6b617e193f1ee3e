from __future__ import annotations

from harness.core.history.history import History
from harness.core.values.calls import InboxRequest, ModelRequest, OutboxRequest, ToolRequest

MODEL = ModelRequest("m", ())


def deliver(history: History, name: str, session: str = "main", kind: str = "message") -> None:
    number = history.past.calls["inbox"] + 1
    key = f"{session}/inbox#{number}"
    history.called(key=key, seam="inbox", session=session, request=InboxRequest())
    value = {"id": name, "session": session, "kind": kind}
    history.answered(key=key, seam="inbox", value=value)


def test_calls_are_counted_by_seam_session_tool_and_purpose() -> None:
    history = History()
    for session, purpose in (("a", "main"), ("b", "compact"), ("a", "main")):
        n = history.past.next_index(session, "model")
        history.called(
            key=f"{session}/model#{n}",
            seam="model",
            session=session,
            request=MODEL,
            purpose=purpose,
        )
    history.called(key="a/tool#1", seam="tool", session="a", request=ToolRequest("i", "t"))
    past = history.past
    assert (past.calls["model"], past.calls["tool"], past.tool_calls["t"]) == (3, 1, 1)
    assert (past.next_index("a", "model"), past.next_index("b", "model")) == (3, 2)
    assert (past.purpose_calls["main"], past.purpose_calls["compact"]) == (2, 1)
    assert past.crossed == {"i"}


def test_an_answer_is_known_by_its_key_and_by_its_place_in_the_run() -> None:
    history = History()
    history.called(key="a/model#1", seam="model", session="a", request=MODEL)
    history.called(key="b/model#1", seam="model", session="b", request=MODEL)
    history.answered(key="b/model#1", seam="model")
    names = ("a/model#1", "model#1", "b/model#1", "model#2", "b/model#2", "model#0", "tool#1", "x")
    assert [n for n in names if history.past.is_answered(n)] == ["b/model#1", "model#2"]


def test_only_a_consumed_turn_moves_the_script_on() -> None:
    history = History()
    for turn in (0, None, 0):
        history.called(key="a/model#1", seam="model", session="a", request=MODEL)
        history.answered(key="a/model#1", seam="model", script_turn=turn)
    assert history.past.plays == {("model", 0): 2}
    assert history.past.last_played == {"model:main": 0}


def test_turns_open_with_a_message_and_close_with_the_reply_or_the_next_question() -> None:
    history, past = History(), None
    past = history.past
    assert (past.turn("main"), past.is_open("main"), past.open_inbound("main")) == (0, False, "")
    deliver(history, "m1")
    assert (past.turn("main"), past.open_inbound("main")) == (1, "m1")
    history.called(key="k", seam="outbox", session="main", request=OutboxRequest("partial", "x"))
    assert past.is_open("main")
    history.called(key="k", seam="outbox", session="main", request=OutboxRequest("final", "x"))
    assert not past.is_open("main")
    deliver(history, "m2")
    deliver(history, "m3", session="other")
    assert past.open_sessions == ("other",)
    assert past.delivered == {("main", "m1"): 1, ("main", "m2"): 1, ("other", "m3"): 1}


def test_a_cancel_opens_no_turn_and_a_look_closes_none() -> None:
    history = History()
    deliver(history, "m1")
    history.called(key="k", seam="inbox", session="main", request=InboxRequest(poll=True))
    assert history.past.is_open("main")
    deliver(history, "c1", kind="cancel")
    assert history.past.turn("main") == 1


def test_limit_answers_are_counted() -> None:
    history = History()
    for error in ("limit.model_calls", "V4", "script.exhausted", "limit.tool_calls"):
        history.answered(key="k", seam="model", error=error)
    assert history.past.limit_answers == 2
