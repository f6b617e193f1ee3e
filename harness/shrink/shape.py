"""The shape of a finding: what must stay the same for it to be the same finding.

A code says which rule is broken. That is not enough: a crash of another kind has the same code, and
so have a call too many and a call too few. The message is too much: numbers, ids and quoted words
change with every cut. So a shape is the code, the seams of the events that prove it, and, where a
rule stands for many different mistakes, the words of the message that are no names: of a crash the
exception and the function, of an expectation what was compared. Tool names are left out, for the
same mistake with another tool is the same mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.core.history.events import Answered, AnyEvent, Called
from harness.core.history.history import History
from harness.core.values.verdict import Finding


def shape(finding: Finding, history: History) -> str:
    """The shape of a finding in its history: `code`, or `code: words (seams)`."""
    events = {event.n: event for event in history.events}
    seams = sorted({_seam(events[n]) for n in finding.events if n in events})
    words = _WORDS.get(finding.check, _no_words)(finding.message)
    return f"{finding.code}{f': {words}' if words else ''} ({', '.join(seams)})"


def _seam(event: AnyEvent) -> str:
    return event.seam if isinstance(event, (Called, Answered)) else type(event).__name__.lower()


def _no_words(message: str) -> str:
    return ""


_CRASH = re.compile(r"\b(\w[\w.]*(?:Error|Exception|Exit|Interrupt|Group))\b")
_PLACE = re.compile(r"\(in (\w+)\)\Z")


def _crash(message: str) -> str:
    """The exception and the function that raised it."""
    found = [*_CRASH.findall(message)[:1], *_PLACE.findall(message)]
    return " in ".join(found)


_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|(?<=the tool )\S+")
_VALUES = re.compile(r"(\d[\d.]*( s)?(, )?)+")


def _compared(message: str) -> str:
    """The words of an expectation up to the colon, without names and numbers."""
    return _VALUES.sub("#", _NAMES.sub("_", message)).partition(":")[0]


_WORDS: dict[str, Callable[[str], str]] = {"target": _crash, "expect": _compared}
