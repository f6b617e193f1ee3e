"""A reply that says the input of a call, and one that says something else."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.evidence.output_tools import says_input

TRIP = {"city": "Oslo", "nights": 3, "sure": True, "hotel": {"name": "Sjøstjernen"}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Oslo", TRIP),
        ("city='Oslo' nights=3 sure=True hotel=Name(name='Sjøstjernen')", TRIP),
        ('{"city": "Oslo", "nights": 3, "sure": true, "hotel": {"name": "Sjøstjernen"}}', TRIP),
        ("3 nights in Oslo, at Sjøstjernen.", TRIP),
        ("Oslo, Sjøstjernen", TRIP),
        ("42", {"answer": 42}),
        ("a\nb", {"items": ["a", "b"], "confidence": 0.5}),
        ("東京", {"city": "東京"}),
    ],
)
def test_a_reply_may_say_the_input(text: str, value: Any) -> None:
    assert says_input(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Bergen", TRIP),
        ("Done.", TRIP),
        ("I have looked at Oslo for you.", TRIP),
        ("I am done.", {"path": "a"}),
        ("142 files", {"answer": 42}),
        ("Done.", {}),
        ("", TRIP),
        ("True", {"sure": True}),
    ],
)
def test_other_words_do_not(text: str, value: Any) -> None:
    assert not says_input(text, value)
