"""Values that a name gives away: `MISTRAL_KEY=…`, `"secret": "…"`, `--token …`, `<password>…`.

A name is read word by word (`name_words.tsv`): `next_page_token` and `prompt_cache_key` name none.
The value is judged too: a password has a letter and a digit, any other secret looks random.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import msgspec

from harness.core.values.table_file import table

PASSWORD, SECRET, COOKIE = "password", "secret", "cookie"
"""Names of what a person may have chosen, of what a program has drawn, and of `name=value`."""

_NOUN = r"key|token|secret|passw|passphrase|passcode|pwd|credential|authorization|cookie"
_SET = re.compile(
    rf"""(?:{_NOUN})[\w-]{{0,24}}"""
    r"""(?P<set>[\\"'`\])]{0,5}\s{0,3}(?::=|=>|==?|:)\s{0,3}"""
    r"""|[\\"'`]{0,4}(?:,|\s|\\n){1,20}[\\"'`-]{0,4}value[\\"'`]{0,4}\s{0,3}:\s{0,3}"""
    r"""|(?P<blank>[\s"',]{1,6})|(?P<element>>))"""
    r"""(?:[\\"'`]{0,4}(?:basic|bearer|bot|digest|token|api-?key|key)\s{1,3})?"""
    r"""(?=[\\"'`]{0,4}[^\s"'`\\]{8})"""
)
"""A name, in small letters, and what stands between it and its value."""

# A bare word before a bracket is code, a call or an index, and not a value.
_VALUE = re.compile(
    r"""[\\"'`]{1,4}(?P<quoted>[^\s"'`\\]{8,})"""
    r"""|(?P<bare>[^\s"'`,;&()\[\]{}<>\\|]{8,})(?![(\[])"""
)
_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_NAME_MOST_CHARS = 48
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class NameWord(msgspec.Struct, frozen=True):
    """What a word of a name says of the value."""

    word: str
    role: Literal["secret", "password", "cookie", "behind", "harmless"]


_WORDS = table("harness.redaction", "name_words.tsv", NameWord)
_ROLES = {word: row.role for word, row in _WORDS.items()}
_HARMLESS = frozenset(word for word, role in _ROLES.items() if role == "harmless")
_PASSWORDS = tuple(word for word, role in _ROLES.items() if role == PASSWORD)
# `_WORD` cannot split these names, because they have neither a separator nor a capital letter.
_WRITTEN_AS_ONE = re.compile(
    r"(?:api|access|secret|private|auth|account|master|client|signing|encryption|shared)key"
    r"|(?:access|auth|api|bearer|refresh|session|bot|id|user|secret|csrf|xsrf)token"
    r"|(?:client|app|api|consumer|shared)secret"
)

_PLACEHOLDER = re.compile(
    r"your|example|placeholder|change.?me|dummy|redacted|x{4}|\*{3}|\.{3}|fake|insert|^[$%{<]"
)
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*", re.I)
_PATH = re.compile(r"[.~]{0,2}/[^/]+/[^/]+/")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_CHARS_MIN, _PASSWORD_CHARS_MIN = 16, 8
# A value under a name must look random (decision 0026).
_LONG_CHARS = 32
_HEX_DISTINCT_MIN = 8
_ENTROPY_MIN_BITS = 3.2


def named_values(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Where the secrets with a name stand in a text; `small` is the text in small letters."""
    for match in _SET.finditer(small):
        start = _name_start(text, match.start())
        before = text[max(0, start - 1) : start]
        if match["blank"] and text[start : start + 2] != "--":
            continue
        if match["element"] and before not in ("<", ":"):
            continue
        kind = kind_of(text[start : match.start("set")])
        value = _VALUE.match(text, match.end()) if kind else None
        if value is None:
            continue
        said = value["quoted"] or value["bare"].rstrip(".:,!?")
        begin = value.start("quoted" if value["quoted"] else "bare")
        if is_secret(kind, said, is_quoted=value["bare"] is None):
            yield begin, begin + len(said)


def is_named(name: str, value: str) -> bool:
    """Whether a name says of its value, the whole of it, that it is a secret."""
    kind = kind_of(name) if len(value) >= _PASSWORD_CHARS_MIN else ""
    return bool(kind) and not re.search(r"\s", value) and is_secret(kind, value)


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """What a name says of its value: `PASSWORD`, `SECRET`, or "" for nothing.

    >>> kind_of("DB_PASSWORD"), kind_of("mistralKey"), kind_of("next_page_token")
    ('password', 'secret', '')
    """
    words = [word.lower() for word in _WORD.findall(name)]
    while len(words) > 1 and _ROLES.get(words[-1]) == "behind":
        words.pop()
    last = words[-1] if words else ""
    if last.endswith(_PASSWORDS):
        return PASSWORD
    if (words == ["key"] and not name.startswith("--")) or not _HARMLESS.isdisjoint(words):
        return ""
    role = SECRET if _WRITTEN_AS_ONE.search(last) else _ROLES.get(last, "")
    return role if role in (SECRET, COOKIE) else ""


def is_secret(kind: str, value: str, *, is_quoted: bool = True) -> bool:
    """Whether the value of a secret's name is a secret, and no placeholder, path or code."""
    small = value.lower()
    if _PLACEHOLDER.search(small) and not is_random(value):
        return False
    if kind == PASSWORD and len(value) >= _PASSWORD_CHARS_MIN:
        names_another = not is_quoted and _IDENTIFIER.fullmatch(value) and re.search(_NOUN, small)
        has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
        return has_both and not names_another and "://" not in value
    return is_random(value) and (kind != COOKIE or "=" in value)


def is_random(value: str) -> bool:
    """Whether a text looks drawn by chance: a UUID, hexadecimal, or letters mixed with digits."""
    if len(value) < _CHARS_MIN or "://" in value or _PATH.match(value):
        return False
    if _UUID.fullmatch(value):
        return True
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    if digits < (2 if len(value) < _LONG_CHARS else 1) or letters < 2:
        return False
    if _HEX.fullmatch(value):
        return len(set(value)) >= _HEX_DISTINCT_MIN
    return _changes(value) >= max(4, len(value) // 6) and entropy(value) >= _ENTROPY_MIN_BITS


def entropy(value: str) -> float:
    """Shannon's entropy of the characters of a text, in bits a character."""
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def _changes(value: str) -> int:
    """How often small letters, capital letters and digits change; other characters do not count."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in value if c.isalnum()]
    return sum(one != other for one, other in pairwise(kinds))


def _name_start(text: str, start: int) -> int:
    least = max(0, start - _NAME_MOST_CHARS)
    while start > least and text[start - 1] in _NAME_CHARS:
        start -= 1
    return start
