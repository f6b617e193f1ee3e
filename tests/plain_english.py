"""What plain English is here: sentences of at most 25 words, and none of the words of a list.

A word of the list (`plain_words.tsv`) is a regular expression, so a row may be a phrase.

It reads paragraphs of Markdown: pages, docstrings, comments and stories of scenarios alike. Code,
tables and headings are left out. A sentence that has to be as it is stands behind a comment on the
line before its paragraph: `<!-- meant: why -->`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

MOST_WORDS = 25
WORDS = {
    row["word"]: row["instead"]
    for row in csv.DictReader(
        Path(__file__).with_name("plain_words.tsv").open(encoding="utf-8"), delimiter="\t"
    )
}

_ANY_WORD = re.compile("|".join(f"(?:{word})" for word in WORDS), re.IGNORECASE)
_WORDS = [(re.compile(rf"\b{word}\b", re.IGNORECASE), plain) for word, plain in WORDS.items()]
_FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--(?! meant:).*?-->", re.DOTALL)
_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.) ")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_END = re.compile(r"(?<=[.!?:;])\s+")


def complaints(page: str) -> Iterator[str]:
    """What is to be said plainer, a line each."""
    for paragraph in paragraphs(page):
        for sentence in sentences(paragraph):
            count = len(re.findall(r"\w[\w'.-]*", sentence))
            if count > MOST_WORDS:
                yield f"{count} words: {sentence}"
            if _ANY_WORD.search(sentence):
                yield from _bad_words(sentence)


def _bad_words(sentence: str) -> Iterator[str]:
    for word, instead in _WORDS:
        for found in word.finditer(sentence):
            yield f"{found[0]!r}: {instead}: {sentence}"


def paragraphs(page: str) -> Iterator[str]:
    """The paragraphs and list items of a page, each on one line, without those that are meant."""
    text = _COMMENT.sub("", _FENCED.sub("", page))
    held: list[str] = []
    meant = False
    for line in [*text.splitlines(), ""]:
        if line.startswith("<!-- meant:"):
            meant = True
        elif line.strip() and not line.startswith(("#", "|", "    ")) and not _ITEM.match(line):
            held.append(line.strip())
        else:
            if held and not meant:
                yield " ".join(held)
            meant = meant and not held
            held = [_ITEM.sub("", line)] if _ITEM.match(line) else []


def sentences(paragraph: str) -> Iterator[str]:
    """The sentences; code counts as one word, a link as its text."""
    plain = _LINK.sub(r"\1", re.sub(r"`[^`]*`", "CODE", paragraph))
    yield from (sentence for sentence in _END.split(plain) if sentence)
