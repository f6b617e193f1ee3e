"""The picture of a result goes on under one media type, which is not its own."""

from __future__ import annotations

import msgspec

from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Opaque, ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="Each picture of a tool is sent as a JPEG, so that the API refuses a PNG",
    scenario="what-the-tools-said/a-picture-beside-words",
    killed_by="result_carried.part",
)


def _as_jpeg(block: Block) -> Block:
    source = block.value.get("source") if isinstance(block, Opaque) else None
    if not isinstance(block, Opaque) or not isinstance(source, dict):
        return block
    return Opaque(block.kind, {**block.value, "source": {**source, "media_type": "image/jpeg"}})


def _changed(call: ToolUse, result: ToolResult) -> ToolResult:
    if isinstance(result.content, str):
        return result
    return msgspec.structs.replace(result, content=tuple(map(_as_jpeg, result.content)))


def agent(brief: Brief) -> None:
    """The reference agent that names one type for all pictures."""
    play_with(brief, _changed)
