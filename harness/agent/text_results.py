"""Results as text, for wires that carry nothing else in a tool's result.

Both OpenAI wires are such: what a tool returns beside text is named there and not sent. So it does
not count either. A history from which only pictures were taken is no smaller on such a wire, and
the model that refused it for its size would refuse it again. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent.projection import project
from harness.core.values.messages import Block, Message, Text, ToolResult


def text_of(result: ToolResult) -> str:
    """The result as text; what is no text in it is named."""
    if isinstance(result.content, str):
        return result.content
    return "\n".join(b.text if isinstance(b, Text) else f"[{b.kind}]" for b in result.content)


def project_as_text(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request for these rows (`project`), their results as text."""
    return [
        msgspec.structs.replace(message, blocks=tuple(map(_as_text, message.blocks)))
        for message in project(rows)
    ]


def _as_text(block: Block) -> Block:
    if not isinstance(block, ToolResult):
        return block
    return msgspec.structs.replace(block, content=text_of(block))
