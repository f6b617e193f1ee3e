"""What the history says of an answer, and the step records of its plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.events import Answered, Effected
from harness.core.transition.answer_event import record_answer, record_reply, record_steps
from harness.core.values.messages import Block, Message, Opaque, Text, Thinking, ToolUse
from harness.core.values.plans import (
    Answer,
    Close,
    Effect,
    Head,
    Jump,
    Kill,
    Raise,
    Reply,
    Returned,
    Send,
    Sent,
    Wait,
    waited_ms,
)
from tests.core import world

blocks = st.one_of(
    st.builds(Text, st.text(max_size=3)),
    st.builds(Thinking, st.just("why"), st.just("signed")),
    st.builds(ToolUse, st.just("t1"), st.just("t"), st.dictionaries(st.text(), st.none())),
    st.just(Opaque("odd", {"type": "odd"})),
)
replies = st.builds(
    Reply,
    st.lists(blocks, max_size=2).map(tuple[Block, ...]),
    st.sampled_from(["end_turn", "tool_use", None]),
    st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), st.integers(0, 3)),
)


@given(replies, st.lists(st.binary(max_size=3), min_size=1, max_size=3), st.booleans())
def test_a_reply_is_recorded_as_any_answer(
    reply: Reply, frames: list[bytes], too_large: bool
) -> None:
    plan = (Send(frames[0], Head(200, {"retry-after": "3"})), *map(Send, frames[1:]))
    quick, whole = world.run(), world.run()
    for run in (quick, whole):
        world.ask(run)
    said = quick.history.note(Message("assistant", reply.blocks))
    record_reply(
        quick.history, world.call_of(quick), plan, reply, said, turn=0, too_large=too_large
    )
    record_answer(
        whole.history, world.call_of(whole), plan, said=reply, turn=0, too_large=too_large
    )
    assert quick.history.events == whole.history.events
    assert quick.history.past.plays == whole.history.past.plays


def test_only_an_effect_before_the_end_of_a_plan_happens() -> None:
    run = world.run()
    world.ask(run)
    call = world.call_of(run)
    record_answer(run.history, call, (Effect("a"), Raise("timeout"), Effect("b")))
    assert [e.name for e in run.history.events if isinstance(e, Effected)] == ["a"]


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (429, {"retry-after": "30"}, "30"),
        (429, {"retry-after": "soon"}, "soon"),
        (529, {"retry-after": "30", "retry-after-ms": "20"}, "20 ms"),
        (503, {}, ""),
        (200, {"retry-after": "30"}, ""),
    ],
)
def test_what_an_error_asks_to_wait_is_told(
    status: int, headers: dict[str, str], told: str
) -> None:
    run = world.run()
    world.ask(run)
    plan = (Send(b"", Head(status, headers)),)
    record_answer(run.history, world.call_of(run), plan, wait_ms="retry-after-ms")
    answered = run.history.events[-1]
    assert isinstance(answered, Answered)
    assert answered.retry_after == told


SEND = Send(b"abc", Head(200, {}))
REPLY = (Answer(Reply()),)


def test_a_plan_as_the_history_keeps_it() -> None:
    plan = (
        Wait(5), SEND, Send(b"de"), Effect("pay"), Jump(9), *REPLY, Raise("timeout"), Send(b""),
        Kill(), Close(), Close(reset=True),
    )  # fmt: skip
    assert record_steps(plan) == (
        Wait(5), Sent(2, 5), Effect("pay"), Jump(9), Returned(), Raise("timeout"),
        Sent(1, 0), Kill(), Close(), Close(reset=True),
    )  # fmt: skip
    assert record_steps(()) == ()


def test_what_a_tool_raised_is_told_for_it_is_its_result() -> None:
    assert record_steps((Raise("tool", "broken"),)) == (Raise("tool", "broken"),)
    assert record_steps((Raise("tool"),)) == (Raise("tool"),)
    (record,) = record_steps((Raise("tool", "x" * 9_000),))
    assert isinstance(record, Raise)
    assert 0 < len(record.message) < 1_000


def test_a_plan_of_very_many_steps_is_told_by_its_sums() -> None:
    piece = (Wait(2), SEND)
    few, many = (*piece * 20, Close()), (*piece * 200, Effect("pay"), Close())
    assert len(record_steps(piece * 20)) == 40
    assert record_steps(few) == (Wait(40), Sent(20, 20 * len(SEND.data)), Close())
    total = Sent(200, 200 * len(SEND.data))
    assert record_steps(many) == (Wait(400), total, Effect("pay"), Close())
    assert record_steps((Send(b""), Wait(0)) * 50) == (Sent(50, 0),)


def test_the_waits_of_a_plan_are_in_its_records() -> None:
    assert waited_ms(record_steps((Wait(5), SEND, Wait(20), Close()))) == 25
    assert waited_ms(record_steps(tuple([Wait(2), Close()] * 100))) == 200
    assert waited_ms(record_steps((SEND,))) == 0
