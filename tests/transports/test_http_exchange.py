from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.plans import Close, Head, Jump, Plan, Raise, Send, Step, Wait
from harness.transports.http_exchange import CUT_CHUNKED, exchange_of

STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(Send, st.binary(max_size=4)),
    st.builds(Wait, st.integers(0, 5)),
    st.just(Jump(1)),
    st.builds(Close, st.booleans()),
    st.just(Raise("timeout")),
)
PLANS: st.SearchStrategy[Plan] = st.lists(STEPS, max_size=8).map(tuple)


def head(**headers: str) -> Head:
    return Head(200, {name.replace("_", "-"): value for name, value in headers.items()})


@given(PLANS, st.integers(0, 20))
def test_a_declared_length_is_never_exceeded_and_a_shortage_is_said(plan: Plan, most: int) -> None:
    answer = exchange_of((Send(b"12", head(content_length=str(most))), *plan))
    size = sum(len(part) for part in answer.parts if isinstance(part, bytes))
    assert size <= most
    assert bool(answer.short) == (size < most)


@given(PLANS)
def test_nothing_comes_after_the_end_of_a_body_and_sends_stand_together(plan: Plan) -> None:
    parts = exchange_of((Send(b"", head()), *plan)).parts
    assert not any(isinstance(part, (Close, Raise)) for part in parts[:-1])
    kinds = [isinstance(part, bytes) for part in parts]
    assert (True, True) not in pairwise(kinds)


@given(PLANS)
def test_what_comes_before_the_first_byte_is_carried_out_before_it(plan: Plan) -> None:
    answer = exchange_of((Wait(1), Jump(2), Send(b"a", head()), *plan))
    assert answer.before == (Wait(1), Jump(2))
    assert answer.head == head()


def test_a_close_leaves_a_chunked_body_without_its_last_chunk() -> None:
    sent = Send(b"a", head(transfer_encoding="chunked"))
    assert exchange_of((sent, Close())).short == CUT_CHUNKED
    assert exchange_of((sent,)).short == ""


def test_a_close_ends_a_body_whose_head_says_nothing() -> None:
    assert exchange_of((Send(b"a", head()), Close())).short == ""
