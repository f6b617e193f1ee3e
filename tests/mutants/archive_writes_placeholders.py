"""Calls and results are saved as texts that stand for them, and the model reads them as such."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import Chain
from harness.agent.sessions.session_archive import ArchivedTranscript, archive_of
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Message, Text, ToolResult, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A call becomes the text `[tool_use: name]` (AutoGPT #12413, first version)",
    scenario="unusual-text/in-tools",
    killed_by="append_only_prefix.messages",
)


def _flat(block: Block) -> Block:
    match block:
        case ToolUse(name=name):
            return Text(f"[tool_use: {name}]")
        case ToolResult():
            return Text(block.text)
    return block


class FlatChain(Chain):
    """Holds texts only."""

    def append(self, message: Message, row: str = "") -> None:
        """Add what can be read of a message."""
        super().append(Message(message.role, tuple(map(_flat, message.blocks))), row)


def agent(brief: Brief) -> None:
    """The reference agent with an archive of texts."""
    archived = partial(ArchivedTranscript, archive_of(brief), new_chain=FlatChain)
    build(brief, transcript=archived).run()
