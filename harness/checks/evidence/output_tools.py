"""Whether a reply says the input of a call: the sign of a tool by which a turn ends.

Many frameworks add a tool for a structured answer (`final_result` of pydantic-ai, `final_answer` of
smolagents). They never run it: its input is the answer. The agent chooses what it sends of that.
One field counts, and so do several in a sentence, and the whole as JSON or as Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.history.exchanges import Ask
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import Json, without_blanks

_SHORT = 4
"""A shorter value is found only as a whole word: a digit stands in many texts by chance."""

_WORDS = 3
"""The least words of an answer that is known from a name or a path."""


def is_output(trace: Trace, turn: Turn, ask: Ask, until_n: float) -> bool:
    """Whether a call is of a tool of the agent's own, did not run, and a final says its input.

    The final is later, and not after the event `until_n`. A tool of the scenario has to run, so it
    is none.
    """
    name, offered = ask.use.name, trace.schemas.get(ask.exchange.request.tools, {})
    if ask.execution is not None or not any(tool.endswith(name) for tool in offered):
        return False
    if name in trace.settings.get("tools", {}) and not trace.is_own_tool(ask):
        return False
    after_n = ask.exchange.n
    ends = (s for s in turn.endings if after_n < s.n <= until_n)
    finals = (s for s in ends if s.request.kind == "final")
    return any(says_input(final.request.text, ask.use.input) for final in finals)


def says_input(text: str, value: Json) -> bool:
    """Whether a text says all values of an input, or nothing but values of it."""
    said = dict.fromkeys(_values(value))
    found = [one for one in said if _stands_in(one, text)]
    return bool(found) and (len(found) == len(said) or not _without(text, value, found))


def only_text(value: Json) -> str:
    """The one value of an input, if it has words: an answer, and no path, mark or number."""
    texts = list(_values(value))
    return texts[0] if len(texts) == 1 and len(texts[0].split()) >= _WORDS else ""


def _values(value: Json) -> Iterator[str]:
    """Yield the texts and numbers in a value; true, false and null are said in too many ways."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _values(part)
    elif isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{value:g}" if isinstance(value, float) else str(value)


def _stands_in(value: str, text: str) -> bool:
    if len(value) >= _SHORT:
        return without_blanks(value) in without_blanks(text)
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _without(text: str, value: Json, found: list[str]) -> str:
    """The letters and digits of a text that are neither values nor names of an input."""
    left = without_blanks(text)
    for known in sorted([*found, *_names(value)], key=len, reverse=True):
        left = left.replace(without_blanks(known), "")
    return "".join(filter(str.isalnum, left))


def _names(value: Json) -> Iterator[str]:
    parts = list(value.values()) if isinstance(value, dict) else value
    if isinstance(value, dict):
        yield from value
    if isinstance(parts, list | tuple):
        for part in parts:
            yield from _names(part)
