"""Texts of the agent in a recording: notes in results, results of calls that never ran, rows.

They stand where a tool's or a user's words are expected. A scenario plays the tool and the user, so
it must not hold them: the agent under test writes its own. `agent_texts.tsv` is the table.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from harness.core.values.messages import Text, ToolResult
from harness.core.values.table_file import table

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
