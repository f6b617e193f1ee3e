"""A text without the line ends that an encoder has put into its long words.

Base64 is wrapped at 64 columns (PEM) or 76 (MIME), other text at the width of a page, and
quoted-printable ends a wrapped line with `=`. A key that goes over such a line end has no shape.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

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
