"""Drawn orders: none for the simplest answers, few changes, and each behind the one before."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.orders import Order
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.example import draw, options_of
from harness.fuzz.order_grammar import CHANGES_MOST, orders_of
from harness.shrink.finding_oracle import REFERENCE


def of(*numbers: int) -> tuple[Order, ...]:
    """The order of these answers, and then the simplest ones."""
    return orders_of(ChoiceSequence((*numbers, *[0] * 20), Random(0)))


@pytest.mark.parametrize(
    ("numbers", "orders"),
    [
        ((), ()),
        ((1,), (Order(at=1, first=2),)),
        ((1, 5, 31, 1), (Order(at=32, first=3),)),
        ((1, 0, 0, 0, 2), (Order(at=1, first=2), Order(at=2, first=2))),
    ],
)
def test_an_order_of_these_answers(numbers: tuple[int, ...], orders: tuple[Order, ...]) -> None:
    assert of(*numbers) == orders


@given(st.lists(st.integers(0, 1 << 16), max_size=30))
def test_changes_are_few_and_come_one_behind_the_other(numbers: list[int]) -> None:
    points = [order.at for order in of(*numbers)]
    assert len(points) <= CHANGES_MOST
    assert points == sorted(set(points))


def test_an_example_has_an_order_only_where_one_is_asked() -> None:
    """The order is drawn last, so an example without one stays as it is."""
    options = options_of(REFERENCE)
    plain, choices = draw((), Random(3), options)
    ordered, more = draw(choices, Random(3), options, orders=True)
    assert plain.orders is None
    assert ordered.orders is not None
    assert more[: len(choices)] == choices
