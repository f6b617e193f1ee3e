from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.interval import interval


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=60))
def test_the_median_lies_within_its_bounds(measures: list[float]) -> None:
    found = interval(measures)
    assert found.low <= found.median <= found.high
    assert found.median == statistics.median(measures)


@pytest.mark.parametrize(("count", "left_out"), [(5, 0), (6, 0), (9, 1), (21, 5), (31, 9)])
def test_the_bounds_are_those_of_the_sign_test(count: int, left_out: int) -> None:
    found = interval(range(count))
    assert (found.low, found.high) == (left_out, count - 1 - left_out)
