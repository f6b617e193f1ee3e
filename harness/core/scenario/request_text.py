"""Whether a request has or lacks a text: a condition on a turn of the script.

The system text counts, because some agents keep instructions there that others keep in a message.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.scenario.scenario import RequestText
from harness.core.values.calls import Call
from harness.core.values.messages import Block, Json, Opaque, Text, ToolResult, ToolUse


def meets(wanted: RequestText, call: Call) -> bool:
    """Whether a request has the text of `has`, and lacks the text of `lacks`."""
    said = "\n".join(_texts(call)).casefold()
    has = wanted.has is None or wanted.has.casefold() in said
    return has and (wanted.lacks is None or wanted.lacks.casefold() not in said)


def _texts(call: Call) -> Iterator[str]:
    yield call.system
    for message in call.messages:
        for block in message.blocks:
            yield from _of_block(block)


def _of_block(block: Block) -> Iterator[str]:
    match block:
        case Text(text):
            yield text
        case ToolResult(content=content):
            yield from [content] if isinstance(content, str) else _of_blocks(content)
        case ToolUse(input=value) | Opaque(value=value):
            yield from _strings(value)


def _of_blocks(blocks: tuple[Text | Opaque, ...]) -> Iterator[str]:
    for block in blocks:
        yield from _of_block(block)


def _strings(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _strings(part)
        case list() | tuple():
            for part in value:
                yield from _strings(part)
