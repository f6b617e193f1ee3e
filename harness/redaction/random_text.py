"""Whether a text looks drawn by chance, or written: as identifiers, paths and words are.

Two explanations compete. By chance, each character costs the logarithm of its alphabet. Written, it
costs what it surprises after the character before it: `th` is cheap, `xq` is dear, and so are a
capital or a digit within a word. The difference is the evidence, in bits. Entropy alone does not
decide: `getUserTokenFromCache` has as much of it as a key.
"""

from __future__ import annotations

import math
import re
import string
from itertools import accumulate, pairwise
from operator import sub

import msgspec

from harness.core.values.table_file import table

JUDGED_CHARS = 64
"""How much of a text is judged: the evidence grows with each character, and so does the cost."""


class LetterPairs(msgspec.Struct, frozen=True):
    """How much each letter surprises after the first one, in bits."""

    first: str
    bits: str


_LETTERS = {
    row.first: dict(zip(string.ascii_lowercase, (int(bit, 16) for bit in row.bits), strict=True))
    for row in table("harness.redaction", "letter_pairs.tsv", LetterPairs).values()
}
# From one class to the next: counted like the letters, but for a capital within a word and within a
# name of capitals. Python's standard library has few of them, JavaScript and settings have many.
_CLASS_BITS = {
    "a": {"a": 0.2, "A": 4.0, "0": 5.5, "-": 3.3},
    "A": {"a": 1.2, "A": 0.4, "0": 5.6, "-": 3.0},
    "0": {"a": 3.0, "A": 4.9, "0": 0.5, "-": 2.7},
    "-": {"a": 0.5, "A": 2.0, "0": 4.2, "-": 2.7},
}
_FIRST_LETTER_BITS, _DIGIT_BITS, _SIGN_BITS = 4.5, 3.1, 1.8
_ALPHABETS = (
    (frozenset(string.ascii_lowercase), 26),
    (frozenset(string.ascii_uppercase), 26),
    (frozenset(string.digits), 10),
)
_SIGNS = 2
"""Base64 has two characters beside letters and digits."""

_CHARS_MIN, _DISTINCT_MIN = 16, 7
_HEX_DISTINCT_MIN = 8
_WITHIN_MORE_BITS = 12.0
"""A part is chosen among many, so it needs more evidence than a whole."""

_SEQUENCE_SHARE_MAX = 0.4
"""`aaaa`, `abcd` and `4321` surprise as words; by chance one pair of ten is such."""

_CONSTANT = re.compile(r"[A-Z]{2,}(?:_[A-Z]+|_\d)+:?")
_PATH = re.compile(r"[.~]{0,2}/[^/]{1,64}/[^/]{1,64}/")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")


class _PairBits(dict[tuple[str, str], float]):
    """What a character costs after another in a written text, each pair computed once."""

    def __missing__(self, pair: tuple[str, str]) -> float:
        before, char = pair
        between = _CLASS_BITS[_class_of(before)][_class_of(char)]
        self[pair] = between + _bits_in_class(before, char)
        return self[pair]


def _class_of(char: str) -> str:
    return "a" if char.islower() else "A" if char.isupper() else "0" if char.isdigit() else "-"


def _bits_in_class(before: str, char: str) -> float:
    if char.isdigit():
        return _DIGIT_BITS
    if not char.isalpha():
        return _SIGN_BITS
    begins = not before.isalpha() or (before.islower() and char.isupper())
    return _FIRST_LETTER_BITS if begins else _LETTERS[before.lower()][char.lower()]


_PAIR_BITS = _PairBits()


def evidence_of_chance(text: str) -> float:
    """The bits by which chance explains a text better than writing does; more is more random.

    Of 10,000 texts of 16 letters and digits drawn by chance, 9,950 have more than 5; of the long
    words in program texts, about 2 in 100.

    >>> evidence_of_chance("getUserTokenFromCache") < 0 < evidence_of_chance("xKqPzTrWmLnBvYcD")
    True
    """
    sums = _sums(text)
    return sums[-1] if sums else -math.inf


def _evidence_within(text: str) -> float:
    """The evidence of the part that has the most: a cookie has a key and a time, a token its name."""
    sums = _sums(text)
    return max(map(sub, sums, accumulate(sums, min))) if sums else -math.inf


def _sums(text: str) -> list[float]:
    """The evidence of the first one, two, … characters; none where no alphabet is known."""
    judged = text[:JUDGED_CHARS]
    if len(judged) < 2 or not judged.isascii():
        return []
    by_chance = math.log2(_alphabet_size(judged))
    first = _FIRST_LETTER_BITS - by_chance
    written = map(_PAIR_BITS.__getitem__, pairwise(judged))
    return [*accumulate((bits - by_chance for bits in written), initial=first)]


def _alphabet_size(text: str) -> int:
    chars = set(text)
    if _HEX.fullmatch(text):
        return 16
    size = sum(size for alphabet, size in _ALPHABETS if not alphabet.isdisjoint(chars))
    return size + (0 if text.isalnum() else _SIGNS)


def is_drawn(text: str, evidence_min_bits: float, chars_min: int = _CHARS_MIN) -> bool:
    """Whether a text is long enough and random: a UUID, hexadecimal, or with enough evidence."""
    if len(text) < chars_min or "://" in text or _PATH.match(text):
        return False
    if _UUID.fullmatch(text):
        return True
    if not any(map(str.isalpha, text[:JUDGED_CHARS])):
        return False
    distinct = len(set(text[:JUDGED_CHARS]))
    if _HEX.fullmatch(text) and len(text) >= _CHARS_MIN:
        return distinct >= _HEX_DISTINCT_MIN and any(map(str.isdigit, text))
    if distinct < min(_DISTINCT_MIN, chars_min - 2) or _is_sequence(text):
        return False
    if _CONSTANT.fullmatch(text):
        return False
    most = max(evidence_of_chance(text), _evidence_within(text) - _WITHIN_MORE_BITS)
    return most >= evidence_min_bits


def _is_sequence(text: str) -> bool:
    codes = [ord(char) for char in text[:JUDGED_CHARS]]
    near = sum(abs(one - other) <= 1 for one, other in pairwise(codes))
    return near > _SEQUENCE_SHARE_MAX * len(codes)


def is_identifier_of_bytes(text: str) -> bool:
    """Whether a text is hexadecimal or a UUID: digests and ids are, as well as keys."""
    return bool(_UUID.fullmatch(text) or _HEX.fullmatch(text))
