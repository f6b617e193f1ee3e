"""Server-sent events: text to events, by the rules of the format.

Lines end with LF, CRLF or CR and nothing else (a JSON string may hold U+2028); several data lines
are joined; comments are skipped. An event that the text ends in the middle of is given out too, as
the official SDK does: whether its data is whole shows when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\n|\r")


class Event(NamedTuple):
    """An event: its name, "" when it has none, and its data."""

    name: str
    data: str


def events(text: str) -> Iterator[Event]:
    """The events of a stream, in order."""
    name, data = "", list[str]()
    for line in (*_LINE_END.split(text.removeprefix("\ufeff")), ""):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif not line:
            if name or data:
                yield Event(name, "\n".join(data))
            name, data = "", []
