"""Pages in plain English: sentences of at most 25 words, and none of the words of a list.

Code, tables, headings and pages that are copied from elsewhere are not read. A sentence that has to
be as it is stands behind a comment on the line before its paragraph: `<!-- meant: why -->`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_WORDS = 25
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"])
PAGES += sorted(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts)
WORDS = {
    row["word"]: row["instead"]
    for row in csv.DictReader((ROOT / "tests/plain_words.tsv").open(), delimiter="\t")
}

_WORD = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)
_FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--(?! meant:).*?-->", re.DOTALL)
_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.) ")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_END = re.compile(r"(?<=[.!?:;])\s+")


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


def complaints(page: str) -> Iterator[str]:
    """What is to be said plainer, a line each."""
    for paragraph in paragraphs(page):
        for sentence in sentences(paragraph):
            count = len(re.findall(r"\w[\w'.-]*", sentence))
            if count > MOST_WORDS:
                yield f"{count} words: {sentence}"
            for word in _WORD.findall(sentence):
                yield f"{word!r}: {WORDS[word.lower()]}: {sentence}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_is_plain(path: Path) -> None:
    assert [*complaints(path.read_text())] == []


LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
LONG += "sixteen seventeen eighteen nineteen twenty a b c d e f."


@pytest.mark.parametrize(
    ("page", "count"),
    [
        (LONG, 1),
        (f"- {LONG}\n- {LONG}", 2),
        ("Whoever reads this, for ever.", 2),
        (f"<!-- meant: a quotation -->\n{LONG}\n\n{LONG}", 1),
        (f"```\n{LONG}\n```\n| {LONG} |\n# {LONG}", 0),
        (f"`{LONG}` is [{'a name'}](https://x.y/{'z' * 90}).", 0),
        ("Short: " + LONG[:80] + "; and on.", 0),
    ],
)
def test_what_is_complained_of(page: str, count: int) -> None:
    assert len([*complaints(page)]) == count
