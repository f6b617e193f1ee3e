"""What looks drawn by chance, and what looks written."""

from __future__ import annotations

import string
from random import Random

import pytest

from harness.redaction.named_secrets import evidence_of_chance, is_drawn

_ALPHABETS = {
    "letters and digits": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "small": string.ascii_lowercase,
    "capital": string.ascii_uppercase,
}


@pytest.mark.parametrize("alphabet", _ALPHABETS)
def test_drawn_texts_look_drawn(alphabet: str) -> None:
    random = Random(3)
    texts = ["".join(random.choices(_ALPHABETS[alphabet], k=16)) for _ in range(2_000)]
    assert sum(not is_drawn(text, 3.0) for text in texts) < 20


@pytest.mark.parametrize(
    "text",
    [
        "getUserTokenFromCache", "next_page_of_results", "the-butler-did-it-in-the-library",
        "gen_ai.request.model", "claude-sonnet-4-20250514", "ANTHROPIC_AUTH_TOKEN_NAME",
        "2026-11-26T10:22:33.123456Z", "/usr/lib/python3.11/site-packages", "aaaaaaaaaaaaaaaa",
        "abcdefghijklmnop", "1234567890123456", "qwertz", "https://docs.example.com/x1Y2z3W4",
        "für-die-straße-zur-großen-übung",
    ],
)  # fmt: skip
def test_written_texts_do_not(text: str) -> None:
    assert not is_drawn(text, 3.0)


def test_a_part_that_was_drawn_is_enough() -> None:
    assert is_drawn("1734386233-1.0.1.1-LEZGJNEYHX6skcAZMFRmaiwMCQSzuH6", 3.0)
    assert evidence_of_chance("LEZGJNEYHX6skcAZMFRmaiwM") > 3.0
    assert not is_drawn("1734386233-1.0.1.1-1734386233", 3.0)
