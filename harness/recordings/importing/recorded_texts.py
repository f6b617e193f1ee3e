"""What texts of a recording are besides what they say: an agent's own, or a failure of a tool.

Notes in results, results of calls that never ran, and rows stand where a tool's or a user's words
are expected. A scenario plays the tool and the user, so it must not hold them: the agent under test
writes its own. `agent_texts.tsv` is the table.

Most programs log a failure of a tool as an ordinary result: an exit status, a JSON field or a first
word says it. A scenario scripts such a result as an error with the same text. So the agent under
test sees a failure like that of any other tool.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal

import msgspec

from harness.core.values.messages import Text, ToolResult
from harness.core.values.table_file import table
from harness.providers.shared.json_fields import parse

Place = Literal["tail", "result", "row"]

_LOOKED_AT = 4000
"""The number of characters at the beginning or the end of a text that are searched."""


class AgentText(msgspec.Struct, frozen=True):
    """A row of the table: the pattern of a text, where it stands, and the agent that writes it."""

    id: str
    place: Place
    agent: str
    pattern: str
    source: str


def is_row_of_agent(text: str) -> bool:
    """Whether a message of the user's side is the agent's own."""
    return _pattern("row").match(text[:_LOOKED_AT]) is not None


def is_result_of_agent(result: ToolResult) -> bool:
    """Whether the agent wrote a result by itself, because the call did not run."""
    return _pattern("result").match(result.text[:_LOOKED_AT]) is not None


def result_of_tool(result: ToolResult) -> ToolResult:
    """The result as the tool gave it, without what the agent wrote after it."""
    content = result.content
    if isinstance(content, str):
        return msgspec.structs.replace(result, content=_without_tail(content))
    blocks = [_without_tail_block(b) if isinstance(b, Text) else b for b in content]
    kept = [b for b, was in zip(blocks, content, strict=True) if b == was or _says(b)]
    return msgspec.structs.replace(result, content=tuple(kept))


def _without_tail_block(block: Text) -> Text:
    return msgspec.structs.replace(block, text=_without_tail(block.text))


def _says(block: object) -> bool:
    return not isinstance(block, Text) or bool(block.text.strip())


def _without_tail(text: str) -> str:
    while (found := _pattern("tail").search(text, max(0, len(text) - _LOOKED_AT))) is not None:
        text = text[: found.start()].rstrip("\n")
    return text


@cache
def _pattern(place: Place) -> re.Pattern[str]:
    rows = table("harness.recordings.importing", "agent_texts.tsv", AgentText).values()
    return re.compile("|".join(f"(?:{row.pattern})" for row in rows if row.place == place), re.S)


_EXIT_CODES = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode", "return_code")
_GOOD = ("ok", "success")
_BAD = ("is_error", "isError")
_BAD_STATUSES = ("error", "failed", "failure")

_FIRST_WORD = re.compile(
    r"\W{0,4}(?:[\w.]{0,60}(?:error|exception)|fatal|failed|failure)\b[^\n:]{0,60}:\s"
    r"|\s{0,4}Traceback \(most recent call last\)",
    re.IGNORECASE,
)
_LINE_MAX = 300
"""The number of characters of a line that are searched."""

# A status other than 0, at the end of its line or of an XML element.
_EXIT = re.compile(
    r"\b(?:exit(?:ed with)?[ _-]?(?:code|status)|returncode)\W{0,3}[1-9]\d*(?:\W{0,3}\Z|</)", re.I
)


def says_that_it_failed(text: str) -> bool:
    """Whether a result says in its tool's own terms that the tool failed.

    A JSON object says it by a field: an exit status, `ok` or `success` false, an `error`. Other
    text says it by its first word, or by an exit status on its first or last line.
    """
    if text.lstrip().startswith("{") and isinstance(value := parse(text), dict):
        return _failed(value)
    lines = text.strip().split("\n")
    ends = (lines[0][:_LINE_MAX], lines[-1][-_LINE_MAX:])
    return bool(_FIRST_WORD.match(text) or any(map(_EXIT.search, ends)))


def _failed(value: dict[str, Any]) -> bool:
    about = value.get("metadata")
    places = (value, about) if isinstance(about, dict) else (value,)
    codes = (place.get(name) for place in places for name in _EXIT_CODES)
    return (
        any(type(code) is int and code != 0 for code in codes)
        or any(value.get(name) is False for name in _GOOD)
        or any(value.get(name) is True for name in _BAD)
        or value.get("status") in _BAD_STATUSES
        or bool(value.get("error"))
    )
