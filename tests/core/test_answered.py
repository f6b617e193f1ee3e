from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.events import Answered, Effected
from harness.core.transition.answer_event import record_answer, record_reply
from harness.core.values.messages import Block, Opaque, Text, Thinking, ToolUse
from harness.core.values.plans import Effect, Head, Raise, Reply, Send
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
    record_reply(quick.history, world.call_of(quick), plan, reply, turn=0, too_large=too_large)
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
    record_answer(run.history, world.call_of(run), (Send(b"", Head(status, headers)),))
    answered = run.history.events[-1]
    assert isinstance(answered, Answered)
    assert answered.retry_after == told
