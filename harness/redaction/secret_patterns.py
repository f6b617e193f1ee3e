"""What a secret looks like in a text: known shapes of keys, values that a name gives away, base64.

Issuers prefix keys so that leaks can be found. The name before a key without a prefix reveals it
(AWS's secret half, a password). A run of base64 that contains a secret is a secret as a whole (a
`Basic` header, a Kubernetes secret). Binary data, such as an image, costs only its decoding.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from harness.core.values.table_file import table
from harness.redaction.named_secrets import named_values


class SecretShape(msgspec.Struct, frozen=True):
    """What the keys of an issuer look like, and what stands in each, in small letters."""

    issuer: str
    hints: tuple[str, ...]
    apart: Literal["", "yes"] = ""
    pattern: str = ""


SHAPES: MappingProxyType[str, SecretShape] = table(
    "harness.redaction", "secret_shapes.tsv", SecretShape
)
"""The known shapes of keys by issuer."""

NAMED = "value of a secret's name"
IN_BASE64 = "secret in base64"
BASIC = "basic credentials"

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_LONG_WORD = re.compile(r"[A-Za-z0-9_.~+/:?&=@-]{16,}")
"""What a key of one word stands in; prose has few of them."""


def _compiled(apart: str) -> list[tuple[str, tuple[str, ...], re.Pattern[str]]]:
    return [
        (row.issuer, row.hints, re.compile(row.pattern.replace("<start>", _START)))
        for row in SHAPES.values()
        if row.apart == apart
    ]


_IN_WORDS, _APART = _compiled(""), _compiled("yes")
_BASIC = re.compile(r"(?i:(?<=basic ))[A-Za-z0-9+/]{8,}={0,2}")
_MIN_CHARS = 8
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_TO_STANDARD = str.maketrans("-_", "+/")


class SecretSpan(NamedTuple):
    """Where a secret stands in a text, and what kind it is."""

    start: int
    end: int
    kind: str


def spans(text: str) -> list[SecretSpan]:
    """The secrets of a text in order; those that touch or overlap are one."""
    found: list[SecretSpan] = []
    if len(text) < _MIN_CHARS:
        return found
    for span in sorted((*_plain(text), *_wrapped(text))):
        if found and span.start <= found[-1].end:
            before = found.pop()
            span = SecretSpan(before.start, max(before.end, span.end), before.kind)
        found.append(span)
    return found


def _plain(text: str) -> Iterator[SecretSpan]:
    small = _small(text)
    words = "\n".join(_LONG_WORD.findall(small))
    for shapes, searched in ((_IN_WORDS, words), (_APART, small)):
        for kind, hints, shape in shapes if searched else ():
            if any(hint in searched for hint in hints):
                for match in shape.finditer(text):
                    yield SecretSpan(*match.span(), kind)
    for start, end in named_values(text, small):
        yield SecretSpan(start, end, NAMED)
    if "basic " in small:
        for match in _BASIC.finditer(text):
            if any(":" in said and said.isprintable() for said in _readings(match[0], starts=1)):
                yield SecretSpan(*match.span(), BASIC)


def _small(text: str) -> str:
    """The text in small letters, at the same places."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(c.lower() if c.isascii() else c for c in text)


def _wrapped(text: str) -> Iterator[SecretSpan]:
    for match in _BASE64_RUN.finditer(text):
        if any(any(_plain(said)) for said in _readings(match[0])):
            yield SecretSpan(*match.span(), IN_BASE64)


def base64_texts(text: str) -> Iterator[str]:
    """What the runs of base64 in a text say, where they say text."""
    for match in _BASE64_RUN.finditer(text):
        yield from _readings(match[0])


def _readings(run: str, starts: int = 4) -> Iterator[str]:
    """The texts in a run of base64, whose start within the run is unknown."""
    # Base64 has groups of four letters, and a rest of one letter holds no whole byte.
    standard = run.rstrip("=").translate(_TO_STANDARD)
    for start in range(starts):
        whole = standard[start : len(standard) - ((len(standard) - start) % 4 == 1)]
        try:
            yield base64.b64decode(whole + "=" * (-len(whole) % 4)).decode()
        except UnicodeDecodeError:  # the run begins elsewhere, or does not hold text
            continue
