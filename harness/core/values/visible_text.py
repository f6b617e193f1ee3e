"""Text for people: foreign text in a form that is safe to show, and times in hours and minutes.

Control characters of foreign text become escapes. These are the control characters (C0, DEL, C1),
the line and paragraph separators, and the marks that turn the direction of text around. The escapes
are those of JSON, so the meaning of JSON text does not change.
"""

from __future__ import annotations

import codecs
import re
from math import isinf, isnan

_OBEYED = r"\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_IN_TEXT, _IN_A_LINE = re.compile(f"[{_OBEYED}]"), re.compile(f"[{_OBEYED}\n]")


ESCAPES = "harness.escapes"
"""The error handler of an encoding: characters that it lacks become escapes of JSON too."""


def _escapes(error: UnicodeError) -> tuple[str, int]:
    # Python's own handler writes `\xe9`, which JSON has no word for.
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4)), error.end


codecs.register_error(ESCAPES, _escapes)


def visible(text: str) -> str:
    r"""`text` with its line feeds; every other control character becomes an escape.

    >>> visible("a" + chr(27) + "[2J")
    'a\\u001b[2J'
    """
    return _IN_TEXT.sub(_escape, text)


def visible_line(text: str) -> str:
    """`text` on one line: its line feeds become escapes too, so that it cannot forge a line."""
    return _IN_A_LINE.sub(_escape, text)


SHOWN = 60
"""How many characters of a text a finding shows."""


def abridged(text: str, characters_max: int) -> str:
    """`text` in at most this number of characters; an ellipsis stands for what is left out.

    >>> abridged("a long text", 7), abridged("a text", 7)
    ('a long…', 'a text')
    """
    return text if len(text) <= characters_max else f"{text[: characters_max - 1]}…"


_COMMAND, _OLD_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE), re.compile(r"#(?=#\[)")


def without_commands(text: str) -> str:
    r"""`text` without workflow commands of GitHub Actions, at the start of a line or in the old
    form anywhere.

    >>> without_commands("  ::error::forged, ##[error]forged")
    '  \\u003a:error::forged, \\u0023#[error]forged'
    """
    return _OLD_COMMAND.sub(r"\\u0023", _COMMAND.sub(r"\1\\u003a", text))


def duration(seconds: float) -> str:
    """A time in words, exact to the millisecond; up to two minutes in seconds.

    >>> [duration(s) for s in (0.05, 90, 180, -3600, 4805.5)]
    ['0.05 s', '90 s', '3 min', '-1 h', '1 h 20 min 5.5 s']
    """
    if isinf(seconds):
        return "for ever"
    if isnan(seconds):
        return "for no number of seconds"
    ms = round(seconds * 1000)
    if abs(ms) < 120_000:
        return f"{ms / 1000:g} s"
    minutes, left_ms = divmod(abs(ms), 60_000)
    parts = (minutes // 60, "h"), (minutes % 60, "min"), (left_ms / 1000, "s")
    said = " ".join(f"{value:g} {unit}" for value, unit in parts if value)
    return f"-{said}" if ms < 0 else said


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
