"""The texts of generated messages, plain ones first, for shrinking.

They are equal, nested or odd in characters, to test code that identifies messages by text. One
quotes a provider's refusal of a long prompt; from a user or a model it is plain text.
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
    "It said: prompt is too long: 208380 tokens > 200000 maximum",
)

UNEVEN = "x" + "🙂" * 60
"""A cut at a round number of bytes or of UTF-16 units splits a character."""

BLANKS = ("", " \n\t")
"""Texts of blanks alone, which the API refuses."""


def word(number: int) -> str:
    """Return the text of a number, modulo the number of texts."""
    return WORDS[number % len(WORDS)]
