"""Times are written for people."""

from __future__ import annotations

import math

import pytest

from harness.core.values.time_words import time_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"), (0.3, "300 ms"), (1.25, "1.25 s"), (59, "59 s"), (60, "1 min"),
        (61.5, "1 min 2 s"), (3599.9, "1 h"), (3600, "1 h"), (5400, "1 h 30 min"),
        (90_061, "1 d 1 h"), (604_800, "7 d"), (math.inf, "for ever"),
    ],
)  # fmt: skip
def test_a_time_is_in_one_unit_or_two(seconds: float, words: str) -> None:
    assert time_words(seconds) == words
