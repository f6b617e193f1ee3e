"""The texts of generated scenarios, plain ones first, for shrinking; and the canaries in them.

Plain texts are equal, nested or odd in characters, to test code that identifies messages by text.
One quotes a provider's refusal of a long prompt; from a user or a model it is plain text. Rich
texts are what agents cut, escape, reorder or round. A canary is a word that follows from its text
and stands in no other. It tells what is left of a text, and equal texts stay equal. Only drawn
texts hold canaries: what an author wrote is compared as it is.
"""

from __future__ import annotations

import re
from base64 import b32encode
from hashlib import blake2b

PLAIN_WORDS = (
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

LARGE_NUMBER = 2**53 + 1
"""The first whole number that a reader with floating point rounds."""

CANARY = re.compile(r"zq[a-z2-7]{8}")


def canary(text: str) -> str:
    """A word that stands for a text: letters and digits, which no writing of a value changes.

    >>> canary("found")
    'zqb6ezpfxs'
    """
    return f"zq{b32encode(blake2b(text.encode(), digest_size=5).digest()).decode().lower()}"


def marked(text: str) -> str:
    """A text with its canary; in a longer one, at its head, middle and end."""
    word, half = canary(text), len(text) // 2
    if len(text) < _LONG:
        return f"{text} {word}"
    return f"{word}h {text[:half]} {word}m {text[half:]} {word}e"


_LONG = 200

RICH_WORDS = tuple(
    marked(text)
    for text in (
        "<b>Bold</b> & <script>alert('1')</script> **stars** [a link](http://localhost/?a=1&b=2)",
        "def f(x):\n    if x < 3:\n\treturn {'a': [1, None]}  # 100 %\n",
        f'{{"id": {LARGE_NUMBER}, "share": 0.1, "none": null}}',
        "שלום עולם, مرحبا 12 \u202eabc\u202c",
        "Zoe\u0308 and Zo\u00eb, ﬁ, n\u0303, \u0e01\u0e33",
        "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 \U0001f1f3\U0001f1f4",
        "one\r\ntwo\r\n\r\n\tthree  \n",
        "".join(f"Line {n} of a long report. " for n in range(1, 61)),
    )
)
"""Markup, code, a large number, right-to-left, combining characters, emoji of several characters,
line ends, and more than a thousand characters."""

WORDS = (*PLAIN_WORDS, *RICH_WORDS)

UNEVEN = "x" + "🙂" * 60
"""A cut at a round number of bytes or of UTF-16 units splits a character."""

BLANKS = ("", " \n\t")
"""Texts of blanks alone, which the API refuses."""

TEXTS = (*WORDS, *BLANKS)


def word(number: int) -> str:
    """Return the text of a number, modulo the number of texts."""
    return WORDS[number % len(WORDS)]
