"""Runs, against their definitions written down naively."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.repetition import (
    CallMade,
    ResultMade,
    Stretch,
    cycle2_runs,
    cycles,
    equal_runs,
    same_call_runs,
    same_fail_runs,
    same_fail_runs_explicit,
    says_failure,
)

KEYS = st.lists(st.sampled_from([None, "a", "b", "c"]), max_size=25)
LETTERS = st.lists(st.sampled_from("ab"), max_size=16) | st.lists(
    st.sampled_from("abc"), max_size=25
)


def _maximal_equal(keys: list[Any], least: int) -> list[tuple[int, int]]:
    """All stretches of equal keys that no longer stretch contains."""
    spans = [(i, j) for i in range(len(keys)) for j in range(i + 1, len(keys) + 1)]
    equal = [s for s in spans if len(set(keys[s[0] : s[1]])) == 1 and keys[s[0]] is not None]
    return _longest(equal, least)


def _longest(spans: list[tuple[int, int]], least: int) -> list[tuple[int, int]]:
    inside = lambda s: any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in spans)  # noqa: E731
    return sorted((i, j - i) for i, j in spans if j - i >= least and not inside((i, j)))


@given(KEYS, st.integers(1, 5))
def test_equal_runs_are_the_maximal_stretches(keys: list[Any], least: int) -> None:
    assert list(equal_runs(keys, least)) == _maximal_equal(keys, least)


@given(LETTERS, st.integers(1, 4), st.integers(2, 4))
def test_cycles_are_the_maximal_stretches_of_a_period(
    keys: list[str], period: int, repeats: int
) -> None:
    def has(part: list[str], p: int) -> bool:
        return all(a == b for a, b in zip(part, part[p:], strict=False))

    spans = [
        (i, j)
        for i in range(len(keys))
        for j in range(i + period, len(keys) + 1)
        if has(keys[i:j], period)
    ]
    found = [
        (i, n)
        for i, n in _longest(spans, period * repeats)
        if not any(period % p == 0 and has(keys[i : i + n], p) for p in range(1, period))
    ]
    assert list(cycles(keys, period, repeats)) == found


def test_calls_are_the_same_whatever_the_order_of_their_keys() -> None:
    calls = [CallMade.of("f", {"a": 1, "b": 2}), CallMade.of("f", {"b": 2, "a": 1})] * 2
    assert same_call_runs(calls) == (Stretch("f", 4, 0),)


@pytest.mark.parametrize("other", [{"a": [2, 1]}, {"a": "1"}, {}, None])
def test_a_call_with_another_input_ends_the_run(other: Any) -> None:
    same = CallMade.of("f", {"a": [1, 2]})
    assert same_call_runs([same, same, CallMade.of("f", other), same, same]) == ()


def test_a_run_is_reported_with_its_length_and_place() -> None:
    calls = [
        CallMade.of("g"),
        *[CallMade.of("f", {})] * 3,
        CallMade.of("g"),
        *[CallMade.of("h")] * 4,
    ]
    assert same_call_runs(calls) == (Stretch("f", 3, 1), Stretch("h", 4, 5))


def test_failing_results_repeat_by_flag_or_by_their_own_word() -> None:
    flagged = [ResultMade(True, "no", "f")] * 3
    worded = [ResultMade(False, "Error: no", "f")] * 3
    assert same_fail_runs_explicit(flagged) == (Stretch("f", 3, 0),)
    assert same_fail_runs_explicit(worded) == ()
    assert same_fail_runs(worded) == (Stretch("f", 3, 0),)


def test_a_success_between_failures_ends_their_run() -> None:
    no, yes = ResultMade(True, "no"), ResultMade(False, "no")
    assert same_fail_runs_explicit([no, no, yes, no, no]) == ()


def test_two_calls_in_turn_are_a_cycle_and_one_is_not() -> None:
    a, b = CallMade.of("a"), CallMade.of("b")
    assert cycle2_runs([a, b, a, b, a, b, a]) == (Stretch("a, b", 7, 0),)
    assert cycle2_runs([a, b, a, b, a]) == ()
    assert cycle2_runs([a] * 8) == ()


@pytest.mark.parametrize(
    "text", ["Error: x", "  ERROR x", "ValueError: x", "failed to x", "Traceback (most"]
)
def test_words_for_failure(text: str) -> None:
    assert says_failure(text)


@pytest.mark.parametrize("text", ["no errors found", "0 failed", "ok", "", "errors.py is clean"])
def test_words_that_only_look_like_failure(text: str) -> None:
    assert not says_failure(text)
