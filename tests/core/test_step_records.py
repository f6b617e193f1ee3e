from __future__ import annotations

from harness.core.history.step_records import (
    Returned,
    Sent,
    record_steps,
    waited_ms,
)
from harness.core.values.plans import (
    Answer,
    Close,
    Effect,
    Head,
    Jump,
    Kill,
    Raise,
    Reply,
    Send,
    Wait,
)

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
