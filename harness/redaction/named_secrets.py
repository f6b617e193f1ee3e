"""Values that a name gives away: `MISTRAL_KEY=…`, `"secret": "…"`, `--token …`, "my api key is …".

A name is read word by word (`name_words.tsv`): `next_page_token` and `prompt_cache_key` name none.
The value is judged too: a password has a letter and a digit, any other secret looks random. The
less a name says, the more evidence its value needs.

The cost is linear: a value is judged by its first characters, and a secret is skipped once it is
found. Of an endless row of names, such as `token=token=…`, only the first are judged.

Whether a text looks drawn by chance, or written: as identifiers, paths and words are.

Two explanations compete. By chance, each character costs the logarithm of its alphabet. Written, it
costs what it surprises after the character before it: `th` is cheap, `xq` is dear, and so are a
capital or a digit within a word. The difference is the evidence, in bits. Entropy alone does not
decide: `getUserTokenFromCache` has as much of it as a key.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import sub
from typing import Literal

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
# From one class to the next: counted like the letters, except a capital within a word and within a
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
    """The evidence of the part that has the most: a cookie has a key and a time."""
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


@lru_cache(maxsize=4096)  # a text that repeats a value is judged once
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


PASSWORD, SECRET, COOKIE, KEY = "password", "secret", "cookie", "key"
"""Names of what a person may have chosen, of what a program has drawn, and of `name=value`. `key`
alone is the key of a table as often."""

_JUDGED_MOST = 20_000
"""How many values of one text are judged, 15 µs each; later ones go unjudged, as secrets."""

_NOUN = (
    r"key|token|secret|passw|passphrase|passcode|pwd|pass|credential|authorization|auth|cookie|jwt"
)
_LINE_END = r"(?:\r?\n|(?:\\r)?\\n)"
_SET = re.compile(
    rf"""(?:{_NOUN})[\w-]{{0,24}}"""
    r"""(?P<set>[\\"'`\])]{0,5}\s{0,3}(?::=|=>|==?|:)\s{0,3}(?:[|>][-+]?\s{1,20})?"""
    r"""|(?P<says>['"`]?\s{1,3}(?:is|was)\s{0,2}:?\s{1,3})"""
    # A field of a form: its name, headers of the part, an empty line.
    rf"""|\\?"(?:;[^\r\n\\]{{0,80}})?{_LINE_END}(?:content-[^\r\n\\]{{0,80}}{_LINE_END})?{_LINE_END}"""
    r"""|[\\"'`]{0,4}(?:,|\s|\\n){1,20}[\\"'`-]{0,4}value[\\"'`]{0,4}\s{0,3}[:=]\s{0,3}"""
    r"""|(?P<blank>[\s"',]{1,6})|(?P<element>>))"""
    r"""(?:[\\"'`]{0,4}(?:basic|bearer|bot|digest|token|api-?key|key)\s{1,3})?"""
    r"""(?=[\\"'`]{0,4}[^\s"'`\\]{8})"""
)
"""A name, in small letters, and what stands between it and its value."""

# The judged part of a value, and the rest. A bare word before a bracket is code, not a value.
_VALUE = re.compile(
    r"""[\\"'`]{1,4}(?P<quoted>[^\s"'`\\]{8,128}+)"""
    r"""|(?P<bare>[^\s"'`,;&()\[\]{}<>\\|]{8,128}+)(?![(\[])"""
)
_REST = {
    "quoted": re.compile(r"""[^\s"'`\\]*+"""),
    "bare": re.compile(r"""[^\s"'`,;&()\[\]{}<>\\|]*+"""),
}
_COOKIE = re.compile(r"""[^\s=;,"'\\]{1,64}=(?P<value>[^\s;,"'\\]{8,})""")
_COOKIES_MOST_CHARS = 1024
_SETTERS = ("env ", "setx ")
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_NAME_MOST_CHARS = 48
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class NameWord(msgspec.Struct, frozen=True):
    """What a word of a name says of the value."""

    word: str
    role: Literal["secret", "password", "cookie", "behind", "harmless"]


_WORDS = table("harness.redaction", "name_words.tsv", NameWord)
_ROLES = {word: row.role for word, row in _WORDS.items()}
_HARMLESS = frozenset(word for word, role in _ROLES.items() if role == "harmless")
_PASSWORDS = tuple(word for word, role in _ROLES.items() if role == PASSWORD and word != "pass")
# `_WORD` cannot split these names, because they have neither a separator nor a capital letter.
_WRITTEN_AS_ONE = re.compile(
    r"(?:api|access|secret|private|auth|account|master|client|signing|encryption|shared)key"
    r"|(?:access|auth|api|bearer|refresh|session|bot|id|user|secret|csrf|xsrf)token"
    r"|(?:client|app|api|consumer|shared)secret"
)

_PLACEHOLDER = re.compile(
    r"your|example|placeholder|change.?me|dummy|redacted|x{4}|\*{3}|\.{3}|fake|insert|^[$%{<]"
)
_VARIABLE = re.compile(r"\$(?:[A-Z_][A-Z0-9_]*|\{[^{}]{1,64}\}?)|%[A-Z_][A-Z0-9_]*%")
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*", re.I)
_KEY_CHARS = re.compile(r"[A-Za-z0-9_+/=-]+")
_PASSWORD_CHARS_MIN = 8
# How much evidence of chance a value needs under a name (decision 0026).
_EVIDENCE_MIN_BITS = {SECRET: 3.0, COOKIE: 3.0, PASSWORD: 3.0, KEY: 6.0}


def named_values(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Where the secrets with a name stand in a text; `small` is the text in small letters."""
    done, judged = 0, 0
    for match in _SET.finditer(small):
        if match.start() < done:
            continue
        kind = _kind_at(text, match)
        if not kind:
            continue
        judged += 1
        for start, end in _values(text, match.end(), kind, judges=judged <= _JUDGED_MOST):
            yield start, end
            done = end


def _kind_at(text: str, match: re.Match[str]) -> str:
    """What the name of a match says of the value behind it, "" for nothing."""
    least = max(0, match.start() - _NAME_MOST_CHARS)
    behind = text[least : match.start()].rstrip(_NAME_CHARS)
    start = least + len(behind)
    name, before = text[start : match.start("set")], behind[-1:]
    if match["blank"] and not name.startswith("--") and not behind.lower().endswith(_SETTERS):
        return ""
    if match["element"] and before not in ("<", ":"):
        return ""
    kind = kind_of(name)
    two = kind_of(f"{_last_word(behind)}_{name}") if before in (" ", ".") else kind
    is_prose = match["says"] is not None or text[match.start("set")] == ":"
    if kind == KEY:
        # "api key" and `vendor.api.key` are names of two words; `?key=` is a secret's.
        said_so = two if two != KEY else "" if match["says"] else kind
        return SECRET if before in ("?", "&") else said_so
    # "The next token: …" names none, and `config token=…` does.
    return two if is_prose and before == " " else kind


def _last_word(text: str) -> str:
    """The word at the end of a text, without what stands behind it; "" for another one."""
    words = text[:-1].rsplit(None, 1)
    return words[-1].rpartition(".")[2] if words and words[-1][-1:].isalpha() else ""


def _values(text: str, at: int, kind: str, *, judges: bool) -> Iterator[tuple[int, int]]:
    """Where the secrets begin and end behind a name that ends at `at`."""
    if kind == COOKIE:
        for pair in _COOKIE.finditer(text, at, at + _COOKIES_MOST_CHARS):
            if not judges or is_secret(kind, pair["value"]):
                yield pair.span("value")
            if text[pair.end() : pair.end() + 1] != ";":
                return
        return
    value = _VALUE.match(text, at)
    if value is None:
        return
    form = "bare" if value["quoted"] is None else "quoted"
    begin, end = value.span(form)
    said = value[form] if form == "quoted" else value[form].rstrip(".:,!?…")
    if judges and not is_secret(kind, said, is_quoted=form == "quoted"):
        return
    rest = _REST[form].match(text, end)
    assert rest is not None, "it matches the empty text"
    yield begin, rest.end() if rest.end() > end else begin + len(said)


def is_named(name: str, value: str) -> bool:
    """Whether a name says of its value, the whole of it, that it is a secret."""
    kind = kind_of(name) if len(value) >= _PASSWORD_CHARS_MIN else ""
    return bool(kind) and not any(map(str.isspace, value)) and is_secret(kind, value)


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """What a name says of its value: `PASSWORD`, `SECRET`, `COOKIE`, `KEY`, or "" for nothing.

    >>> kind_of("DB_PASSWORD"), kind_of("mistralKey"), kind_of("next_page_token")
    ('password', 'secret', '')
    """
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and _ROLES.get(words[-1]) == "behind":
        words.pop()
    last = words[-1] if words else ""
    if last.endswith(_PASSWORDS):
        return PASSWORD
    if not _HARMLESS.isdisjoint(words):
        return ""
    if words == ["key"] and not name.startswith("--"):
        return KEY
    # In a database the byte before a name is often a letter; and `oauth`, `pkey` name secrets too.
    said: str = _ROLES.get(last) or _ROLES.get(last[1:]) or ""
    role = SECRET if _WRITTEN_AS_ONE.search(last) else said
    return role if role in (SECRET, COOKIE, PASSWORD) else ""


def is_secret(kind: str, value: str, *, is_quoted: bool = True) -> bool:
    """Whether the value of a secret's name is a secret, and no placeholder, path or code."""
    if _VARIABLE.fullmatch(value):
        return False
    if kind == KEY and (is_identifier_of_bytes(value) or not _KEY_CHARS.fullmatch(value)):
        return False
    is_random = is_drawn(value, _EVIDENCE_MIN_BITS[kind])
    small = value.lower()
    if is_random or _PLACEHOLDER.search(small):
        return is_random
    if kind == PASSWORD and len(value) >= _PASSWORD_CHARS_MIN:
        names_another = not is_quoted and _IDENTIFIER.fullmatch(value) and re.search(_NOUN, small)
        has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
        if has_both:
            return not names_another and "://" not in value
        return is_drawn(value, _EVIDENCE_MIN_BITS[PASSWORD], _PASSWORD_CHARS_MIN)
    return False
