from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.plans import (
    Answer,
    ApiError,
    Close,
    Effect,
    Head,
    Jump,
    Kill,
    Plan,
    Raise,
    Reply,
    Send,
    ToolAnswer,
    Wait,
    is_consumed,
    is_whole,
    patience_ms,
    until_timeout,
)

SEND = Send(b"abc", Head(200, {}))
REPLY = (Answer(Reply()),)
ERROR = (Answer(ApiError(529, "overloaded_error", "x")),)


@pytest.mark.parametrize(
    ("plan", "lived"),
    [
        ((Wait(5), SEND), (Wait(5), SEND)),
        ((Wait(10), SEND), (Wait(10), SEND)),
        ((Wait(11), SEND), (Wait(10), Raise("timeout"))),
        ((Wait(6), Wait(6), SEND), (Wait(6), Wait(4), Raise("timeout"))),
        ((Wait(6), SEND, Wait(6), SEND), (Wait(6), SEND, Wait(6), SEND)),
        ((SEND, Wait(99), Close()), (SEND, Wait(10), Raise("timeout"))),
        ((SEND,), (SEND,)),
    ],
)
def test_a_client_gives_up_after_so_much_silence(plan: Plan, lived: Plan) -> None:
    assert until_timeout(plan, 10) == lived
    assert until_timeout(plan, None) == plan


@given(st.lists(st.builds(Wait, st.integers(0, 20)) | st.just(SEND)), st.integers(0, 30))
def test_nobody_waits_longer_than_the_time_out(steps: list[Wait | Send], timeout_ms: int) -> None:
    silent_ms = 0
    for step in until_timeout(tuple(steps), timeout_ms):
        silent_ms = silent_ms + step.ms if isinstance(step, Wait) else 0
        assert silent_ms <= timeout_ms


@pytest.mark.parametrize(
    ("plan", "whole"),
    [
        ((SEND,), True),
        ((Wait(5), Effect("x"), Jump(1), *REPLY), True),
        ((SEND, Close()), False),
        ((SEND, Close(reset=True)), False),
        ((Raise("timeout"),), False),
        ((SEND, Kill()), False),
    ],
)
def test_what_leaves_whole(plan: Plan, whole: bool) -> None:
    assert is_whole(plan) == whole


@pytest.mark.parametrize(
    ("scripted", "bent", "carried", "consumed"),
    [
        (REPLY, REPLY, (SEND,), True),
        (REPLY, (Answer(Reply(stop="max_tokens")),), (SEND,), True),
        (REPLY, (Wait(5), *REPLY), (Wait(5), SEND), True),
        (REPLY, ERROR, (SEND,), False),
        (REPLY, REPLY, (SEND, Close()), False),
        (REPLY, REPLY, (SEND, Kill()), False),
        (ERROR, ERROR, (SEND,), True),
        ((Answer(ToolAnswer("x")),), (SEND,), (SEND,), False),
        ((Raise("tool", "x"),), (Raise("tool", "x"),), (Wait(5), Raise("tool", "x")), True),
        ((Raise("tool", "x"),), (Raise("timeout"),), (Raise("timeout"),), False),
    ],
)
def test_a_turn_is_consumed_when_what_it_says_leaves_whole(
    scripted: Plan, bent: Plan, carried: Plan, consumed: bool
) -> None:
    assert is_consumed(scripted, bent, carried) == consumed


@pytest.mark.parametrize(
    ("timeout_s", "ms"),
    [(None, None), (math.inf, None), (math.nan, None), (1e306, None), (1.5, 1500), (-1, 0)],
)
def test_a_client_may_be_patient_without_end(timeout_s: float | None, ms: int | None) -> None:
    assert patience_ms(timeout_s) == ms
