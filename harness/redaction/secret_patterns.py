"""What a secret looks like in a text: known shapes of keys, values that a name gives away, base64.

Issuers prefix keys so that leaks can be found. The name before a key without a prefix reveals it
(AWS's secret half, a password). A run of base64 that contains a secret is a secret as a whole (a
`Basic` header, a Kubernetes secret). Binary data, such as an image, costs only its decoding. Users
stand with their passwords where no name gives them away: `curl -u me:…`, `.netrc`.

Encoders put line ends into long words. Base64 is wrapped at 64 columns (PEM) or 76 (MIME), other
text at the width of a page. Quoted-printable ends such a line with `=`. A key that goes over a line
end has no shape, so texts are searched without them too.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
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
CREDENTIALS = "user and password"

TOO_LONG = "text too long to be searched"

SEARCHED_MOST_CHARS = 64 * 2**20
"""A longer text counts as a secret as a whole: to search it would take seconds."""

_PLACES = {"start": r"[A-Za-z0-9]", "run": r"[A-Za-z0-9_-]"}
_PLACED = re.compile(r"<(start|run)>((?:[A-Za-z0-9_-]|\\\.)*(?![?*+{]))(.*)", re.S)
_LONG_WORD = re.compile(r"[A-Za-z0-9_.~+/:?&=@-]{16,}")
"""What a key of one word stands in; prose has few of them."""


@cache  # compiled when a hint is met: to compile all costs each process 20 ms at its start
def _pattern(written: str) -> re.Pattern[str]:
    """A pattern of the table. Python finds a literal at once, but only at the start of a pattern.
    So the test of what stands before the literal is written behind it."""
    placed = _PLACED.fullmatch(written)
    if placed is None:
        return re.compile(written)
    literal, rest = placed[2], placed[3]
    not_behind = _PLACES[placed[1]]
    return re.compile(rf"{literal}(?:(?<!{not_behind}{literal})|(?<=\\[nrt]{literal})){rest}")


class _Shapes(NamedTuple):
    """The shapes whose hints are searched in one kind of text, and each hint with its shape."""

    shapes: list[SecretShape]
    hints: list[tuple[str, int]]

    @classmethod
    def of(cls, apart: str) -> _Shapes:
        """The shapes of the table with this value of `apart`."""
        rows = [row for row in SHAPES.values() if row.apart == apart]
        hints = [(hint, place) for place, row in enumerate(rows) for hint in row.hints]
        return cls(rows, hints)

    def spans(self, text: str, searched: str) -> Iterator[SecretSpan]:
        """The secrets of a text whose hints stand in `searched`."""
        for place in sorted({place for hint, place in self.hints if hint in searched}):
            shape = self.shapes[place]
            for match in _pattern(shape.pattern).finditer(text):
                yield SecretSpan(*match.span(), shape.issuer)


_IN_WORDS, _APART = _Shapes.of(""), _Shapes.of("yes")
_BASIC = re.compile(r"(?i:(?<=basic ))[A-Za-z0-9+/]{8,}={0,2}")
_MIN_CHARS = 8
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_TO_STANDARD = str.maketrans("-_", "+/")
_NESTED_MOST = 3
"""How often base64 in base64 is undone: Kubernetes keeps Docker's settings, and those a user."""

# No pattern goes on over it, and no name is set to what comes behind it.
_BETWEEN = "\n\0\n"


class SecretSpan(NamedTuple):
    """Where a secret stands in a text, and what kind it is."""

    start: int
    end: int
    kind: str


def spans(text: str) -> list[SecretSpan]:
    """The secrets of a text in order; those that touch or overlap are one."""
    if len(text) < _MIN_CHARS:
        return []
    if len(text) > SEARCHED_MOST_CHARS:
        return [SecretSpan(0, len(text), TOO_LONG)]
    return _merged((*_plain(text), *_in_base64(text), *_over_line_ends(text)))


def _merged(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    found: list[SecretSpan] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            before = found.pop()
            span = SecretSpan(before.start, max(before.end, span.end), before.kind)
        found.append(span)
    return found


def _plain(text: str) -> Iterator[SecretSpan]:
    small = _small(text)
    words = "\n".join(_LONG_WORD.findall(small))
    if words:
        yield from _IN_WORDS.spans(text, words)
    yield from _APART.spans(text, small)
    for start, end in named_values(text, small):
        yield SecretSpan(start, end, NAMED)
    for start, end in _written_credentials(text, small):
        yield SecretSpan(start, end, CREDENTIALS)
    if "basic " in small:
        for match in _BASIC.finditer(text):
            if any(":" in said and said.isprintable() for said in _readings(match[0], starts=1)):
                yield SecretSpan(*match.span(), BASIC)


_BLANK = r"(?:\s|\\[nrt]){1,40}"
_NETRC_WORD = r"[^\s\\]{1,200}"
_NETRC = re.compile(
    rf"(?:machine{_BLANK}{_NETRC_WORD}|default){_BLANK}login{_BLANK}{_NETRC_WORD}{_BLANK}"
    rf"(?:account{_BLANK}{_NETRC_WORD}{_BLANK})?password{_BLANK}(?P<said>[^\s\\]++)"
)
_USER_FLAG = re.compile(
    r"""(?<![\w-])(?:-u|-U|-a|--user|--auth|--proxy-user)(?:["',\s=]|\\["']){0,6}"""
    r"""(?P<said>[^\s"'\\:/@$<{]{1,128}:(?![/$<{])[^\s"'\\]{3,256}+)"""
)
_PROGRAMS = ("curl", "http -", "https -", "xh -")
_COMMAND_ENDS = (" | ", " && ", "; ")
_COMMAND_MOST_CHARS = 2_000
_IDS = re.compile(r"\d{1,7}:\d{1,7}")


def _written_credentials(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Where a user and a password stand in a text; `small` is the text in small letters."""
    if "machine" in small or "default" in small:
        for match in _NETRC.finditer(text):
            yield match.span("said")
    if any(program in small for program in _PROGRAMS):
        for match in _USER_FLAG.finditer(text):
            if _is_of_client(small, match.start()) and not _IDS.fullmatch(match["said"]):
                yield match.span("said")


def _is_of_client(small: str, at: int) -> bool:
    """Whether a flag is one of an HTTP client: `docker run -u 1:a` and `sort -u a:b` are not."""
    least = max(0, at - _COMMAND_MOST_CHARS)
    begin = max(small.rfind(program, least, at) for program in _PROGRAMS)
    if begin < 0 or any(small.find(end, begin, at) >= 0 for end in _COMMAND_ENDS):
        return False
    return small.count("\n", begin, at) == small.count("\\\n", begin, at)


def _small(text: str) -> str:
    """The text in small letters, at the same places."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(c.lower() if c.isascii() else c for c in text)


def _in_base64(text: str, nested: int = _NESTED_MOST) -> Iterator[SecretSpan]:
    """The runs of base64 that say a secret, as a whole."""
    runs, ends, said = list[re.Match[str]](), list[int](), list[str]()
    end = 0
    for match in _BASE64_RUN.finditer(text) if nested else ():
        for reading in _readings(match[0]):
            runs.append(match)
            said.append(reading)
            end += len(reading) + len(_BETWEEN)
            ends.append(end)
    # All readings are searched as one text: to begin a search costs more than to go on.
    whole = _BETWEEN.join(said)
    for span in (*_plain(whole), *_in_base64(whole, nested - 1)) if said else ():
        for place in range(bisect_right(ends, span.start), bisect_left(ends, span.end) + 1):
            yield SecretSpan(*runs[min(place, len(runs) - 1)].span(), IN_BASE64)


def _over_line_ends(text: str) -> Iterator[SecretSpan]:
    """The secrets that a mail or an encoder has wrapped: those that go over such a line end."""
    joined = unwrapped(text)
    if joined is not None:
        for start, end, kind in (*_plain(joined.text), *_in_base64(joined.text)):
            if joined.is_over_end(start, end):
                yield SecretSpan(*joined.place(start, end), kind)


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


_WORD_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_.=~-"
_WORD_CHAR = r"[A-Za-z0-9+/_.=~-]"
_WIDTHS = frozenset({60, 64, 70, 72, 75, 76, 78, 79, 80})
"""What programs wrap at. A line of another width ends where its words end."""

# Escaped line ends too: the text may be JSON that cannot be read. YAML and headers indent.
_LINE_END = re.compile(
    rf"(?<=[^\n]{{{min(_WIDTHS) - 2}}}{_WORD_CHAR})(?P<soft>=)?(?:\r?\n|(?:\\r)?\\n)[ \t]{{0,16}}"
    rf"(?={_WORD_CHAR})"
)
_LINE_START = re.compile(r"(?:\n|\\n)[ \t]{0,16}")


class Unwrapped(NamedTuple):
    """A text whose parts stood on several lines: `starts` in the joined text, `places` before."""

    text: str
    starts: list[int]
    places: list[int]

    def is_over_end(self, start: int, end: int) -> bool:
        """Whether a span of the joined text goes over a line end that was left out."""
        return bisect_right(self.starts, start) < bisect_left(self.starts, end)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a span of the joined text stands in the text before."""
        return self._before(start), self._before(end - 1) + 1

    def _before(self, at: int) -> int:
        part = bisect_right(self.starts, at) - 1
        return self.places[part] + at - self.starts[part]


def unwrapped(text: str) -> Unwrapped | None:
    """The text with its wrapped words joined; None where it has none."""
    starts, places, parts = [0], [0], list[str]()
    length = 0
    for match in _LINE_END.finditer(text):
        if match["soft"] or _is_filled(text, match.start()):
            parts.append(text[places[-1] : match.start()])
            length += len(parts[-1])
            starts.append(length)
            places.append(match.end())
    return Unwrapped("".join(parts) + text[places[-1] :], starts, places) if parts else None


def _is_filled(text: str, end: int) -> bool:
    """Whether the line that ends here, or its last word, has a width that programs wrap at."""
    before = text[max(0, end - max(_WIDTHS) - 20) : end]
    starts = [0, *(match.end() for match in _LINE_START.finditer(before))]
    line = before[starts[-1] :]
    word = len(line) - len(line.rstrip(_WORD_CHARS))
    return len(line) in _WIDTHS or word in _WIDTHS
