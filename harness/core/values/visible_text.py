"""Text of strangers as it may be shown: what a terminal would obey is written out as its escape.

These are the control characters (C0, DEL, C1), the line and paragraph separators, and the marks
that turn the direction of text around. The escapes are those of JSON, so JSON stays what it says.
"""

from __future__ import annotations

import re

_OBEYED = r"\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_IN_TEXT, _IN_A_LINE = re.compile(f"[{_OBEYED}]"), re.compile(f"[{_OBEYED}\n]")


def visible(text: str) -> str:
    r"""`text` with its line feeds, and every other character that a terminal obeys written out.

    >>> visible("a" + chr(27) + "[2J")
    'a\\u001b[2J'
    """
    return _IN_TEXT.sub(_escape, text)


def visible_line(text: str) -> str:
    """`text` on one line: its line feeds are written out too, so that it cannot forge a line."""
    return _IN_A_LINE.sub(_escape, text)


_COMMAND, _OLD_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE), re.compile(r"#(?=#\[)")


def without_commands(text: str) -> str:
    r"""`text` in which GitHub Actions finds no workflow command: neither at the start of a line,
    nor in the old form that counts anywhere.

    >>> without_commands("  ::error::forged, ##[error]forged")
    '  \\u003a:error::forged, \\u0023#[error]forged'
    """
    return _OLD_COMMAND.sub(r"\\u0023", _COMMAND.sub(r"\1\\u003a", text))


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
