from __future__ import annotations

from harness.core.history.plan_words import summary, waited_ms
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


def test_a_plan_in_words() -> None:
    plan = (
        Wait(5), SEND, Send(b"de"), Effect("pay"), Jump(9), *REPLY, Raise("timeout"), Send(b""),
        Kill(), Close(), Close(reset=True),
    )  # fmt: skip
    assert summary(plan) == (
        "wait 5 ms", "send 2 (5 bytes)", "effect pay", "jump 9 ms", "answer", "raise timeout",
        "send 1 (0 bytes)", "kill", "close", "reset",
    )  # fmt: skip
    assert summary(()) == ()


def test_what_a_tool_raised_is_told_for_it_is_its_result() -> None:
    assert summary((Raise("tool", "broken"),)) == ("raise tool: broken",)
    assert summary((Raise("tool"),)) == ("raise tool",)
    assert len(summary((Raise("tool", "x" * 9_000),))[0]) < 1_000


def test_a_plan_of_very_many_steps_is_told_by_its_sums() -> None:
    piece = (Wait(2), SEND)
    few, many = (*piece * 20, Close()), (*piece * 200, Effect("pay"), Close())
    assert len(summary(piece * 20)) == 40
    assert summary(few) == ("wait 40 ms", f"send 20 ({20 * len(SEND.data)} bytes)", "close")
    total = f"send 200 ({200 * len(SEND.data)} bytes)"
    assert summary(many) == ("wait 400 ms", total, "effect pay", "close")
    assert summary((Send(b""), Wait(0)) * 50) == ("send 50 (0 bytes)",)


def test_the_waits_of_a_plan_are_in_its_words() -> None:
    assert waited_ms(summary((Wait(5), SEND, Wait(20), Close()))) == 25
    assert waited_ms(summary(tuple([Wait(2), Close()] * 100))) == 200
    assert waited_ms(summary((SEND,))) == 0
