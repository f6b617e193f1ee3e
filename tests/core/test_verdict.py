from __future__ import annotations

from itertools import permutations

import pytest

from harness.core.values.verdict import EXIT_STATUS, Finding, VerdictWord, worst


def test_the_worst_wins_in_any_order() -> None:
    for words in permutations(("pass", "unknown", "fail", "not_applicable")):
        assert worst(*words) == "fail"
    assert worst("pass", "unknown", "pass") == "unknown"
    assert worst("pass", "not_applicable") == "pass"


@pytest.mark.parametrize("words", [(), ("not_applicable",)])
def test_nothing_that_applied_is_unknown(words: tuple[VerdictWord, ...]) -> None:
    assert worst(*words) == "unknown"


def test_each_word_has_its_exit_status() -> None:
    assert EXIT_STATUS == {"pass": 0, "fail": 1, "unknown": 3}


def test_a_code_names_its_check() -> None:
    assert Finding("valid_request.V4", "x").check == "valid_request"
    assert Finding("alone", "x").check == "alone"
