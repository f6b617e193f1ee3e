"""The few texts that generated messages are made of: plain ones first, for failures shrink to them.

They are equal to each other, part of each other, or odd in their characters, since a check or an
agent that tells messages apart by their text goes wrong on such pairs.
"""

from __future__ import annotations

WORDS = (
    "hello",
    "Yes.",
    "hello again",
    "yes",
    "What is my name?",
    "naïve 日本 🙂",
    "two\n\nparagraphs",
    'q"\\ <&> \u2028 \x7f',
    "hello\n\nYes.",
    "word " * 60,
)

BLANKS = ("", " \n\t")
"""Texts without a word, which the API refuses."""


def word(number: int) -> str:
    """The text of a number, round and round."""
    return WORDS[number % len(WORDS)]
