"""The words that reports print beside codes: each with its kind, its meaning and a page.

They stand in `printed_words.tsv`. A blank and an underscore are the same in them, since JSON writes
`not_applicable` where a person reads `not applicable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from harness.core.values.table_file import table


class PrintedWord(msgspec.Struct, frozen=True):
    """A word that reports print: its kind, its meaning, and the page that says more."""

    word: str
    what: str
    text: str
    see: str


@cache
def printed_words() -> Mapping[str, PrintedWord]:
    """Return the words, with blanks in place of underscores."""
    rows = table(__name__, "printed_words.tsv", PrintedWord)
    return {spaced(word): row for word, row in rows.items()}


def spaced(word: str) -> str:
    """Return a word with blanks in place of underscores."""
    return word.replace("_", " ")
