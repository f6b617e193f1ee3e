r"""Whether a text that is sent on holds what was said: the relation *carried*.

An agent may write the same value otherwise: as JSON, YAML or a table, with other white space,
without colours, with words around it. So both texts are read as words without their writing. A
short text must stand there as a whole. Of a longer one the head, the middle and the end must, each
by itself, so that the answer names the part that is lost.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from contextlib import suppress
from functools import cached_property
from typing import Literal, TypeAlias

from harness.core.values.messages import Json, canonical

Part: TypeAlias = Literal["whole", "head", "middle", "end"]
"""A part of a text that may be lost; `whole` if the text is short, or if nothing of it is left."""

LEAST_CHARACTERS = 4
"""A shorter text stands in many others by chance, so nothing is asked of it."""

WHOLE_CHARACTERS, PIECE_CHARACTERS = 60, 20
"""Up to how many characters a text is compared as a whole, and how long a piece of a longer one is.
Marks and white space do not count."""

# A text may be encoded several times, and each time doubles the backslashes.
_ESCAPE = re.compile(
    r"(?<!\\)\\+(?:U00([0-9a-fA-F]{6})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|[nrtbfv])?"
)
# A terminal's colours and titles. An agent may take out the escape alone.
_COLOURS = re.compile(
    r"\x1b?\[[0-9;]{1,20}m|\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}[\x07\x1b]"
)
_AMPERSANDS = re.compile(r"&(?:amp;)+", re.IGNORECASE)
_FRACTION = re.compile(r"(?<=[0-9])\.([0-9]+)")
_CONSTANT = re.compile(r"\b(?:True|False|None)\b")
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
# The marks of JSON, YAML, Markdown and tables, typographic quotes and dashes, the lines of boxes,
# and what no API takes: control characters, halves of a pair and their replacement.
_MARKS = re.compile(
    r"[\s\x00-\x2f:-@\[-`{-\xa0\xad\u2000-\u206f\u2500-\u257f\ud800-\udfff\ufe0f\ufeff\ufffd]+"
)
_STRETCH = 1024
"""Python sorts a run of combining marks by insertion, so that a long one costs its square."""


class Spelt:
    """A text as it is compared: its words without their writing."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> list[str]:
        """Its words, without marks, white space and escapes."""
        text = self.text
        if "\\" in text:
            units = _ESCAPE.sub(_unescaped, text).encode("utf-16", "surrogatepass")
            text = units.decode("utf-16", "surrogatepass")
        if "[" in text or "\x1b" in text:
            text = _COLOURS.sub("", text)
        if "&" in text:
            text = html.unescape(_AMPERSANDS.sub("&", text))
        if not text.isascii():
            text = _composed(text)
        text = _CONSTANT.sub(lambda found: _CONSTANTS[found[0]], text)
        text = _FRACTION.sub(lambda found: found[1].rstrip("0"), text)
        return _MARKS.sub(" ", text).split()

    @cached_property
    def plain(self) -> str:
        """Its words, without a space between them."""
        return "".join(self.words)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.words)

    def holds(self, words: list[str]) -> bool:
        """Whether words stand here in a row, or each of them anywhere, as in a table."""
        if "".join(words) in self.plain:
            return True
        return all(w in self._known or (len(w) >= LEAST_CHARACTERS and w in self.plain)
                   for w in words)  # fmt: skip


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    number = int(code, 16) if code else ord(" ")
    return chr(number) if number <= 0x10FFFF else " "


def _composed(text: str) -> str:
    """A text in the one form of its characters: an accent by itself, a ligature as its letters."""
    stretches = (text[at : at + _STRETCH] for at in range(0, len(text), _STRETCH))
    return "".join([unicodedata.normalize("NFKD", stretch) for stretch in stretches])


def is_asked(said: str) -> bool:
    """Whether a text is long enough that another one does not hold it by chance."""
    return len(Spelt(said).plain) >= LEAST_CHARACTERS


def lost_parts(said: str, sent: str | Spelt, *, least: int = LEAST_CHARACTERS) -> tuple[Part, ...]:
    """The parts of `said` that `sent` does not hold; () if the text is carried, or shorter than
    `least`.

    >>> lost_parts('{"level": 1.0, "bowl": "full"}', "bowl: full, level: 1")
    ()
    >>> lost_parts("The cat eats. " * 9 + "The dog waits outside.", "The cat eats. " * 9)
    ('end',)
    """
    sent = Spelt(sent) if isinstance(sent, str) else sent
    if said in sent.text or len((spelt := Spelt(said)).plain) < least:
        return ()
    lost = _lost(spelt.words, sent)
    return _lost(values, sent) if lost and (values := _values(said)) else lost


def _lost(words: list[str], sent: Spelt) -> tuple[Part, ...]:
    length = sum(map(len, words))
    if length <= WHOLE_CHARACTERS:
        return () if sent.holds(words) else ("whole",)
    last = length - PIECE_CHARACTERS
    places: dict[Part, int] = {"head": 0, "middle": last // 2, "end": last}
    lost = tuple(part for part, at in places.items() if not sent.holds(_piece(words, at)))
    return ("whole",) if len(lost) == len(places) else lost


def _piece(words: list[str], first: int) -> list[str]:
    """The words of the piece that begins at a character. A short end of a word that the piece cuts
    through says nothing."""
    piece, at = list[str](), 0
    for word in words:
        if at >= first + PIECE_CHARACTERS:
            break
        part = word[max(first - at, 0) : max(first + PIECE_CHARACTERS - at, 0)]
        if part == word or len(part) >= LEAST_CHARACTERS:
            piece.append(part)
        at += len(word)
    return piece


def _values(said: str) -> list[str]:
    """The words of the values in a text that is JSON, for an agent that sends them by other names;
    [] for other texts."""
    if not said.lstrip().startswith(("{", "[")):
        return []
    with suppress(ValueError, RecursionError):
        found: list[str] = []
        _collect(json.loads(said, parse_int=str, parse_float=str), found)
        return [word for value in found for word in Spelt(value).words]
    return []


def _collect(value: Json, found: list[str]) -> None:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _collect(part, found)
    elif value is not None:
        found.append(value if isinstance(value, str) else canonical(value))
