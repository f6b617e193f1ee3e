"""The signatures of calls are kept in the same narrow column as those of thoughts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.conversation.projection import project
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Message, ToolUse
from tests.mutants import Mutant
from tests.mutants.cuts_signatures import WIDTH

MUTANT = Mutant(
    breaks="projection",
    statement="The signature of a call goes back cut (google-gemini/gemini-cli #13467)",
    scenario="call-signature-lost@gemini",
    killed_by="valid_request.G11",
)


def narrow(rows: Sequence[Message]) -> list[Message]:
    """The rows as the column has them."""
    return [Message(row.role, tuple(map(_cut, row.blocks))) for row in project(rows)]


def _cut(block: Block) -> Block:
    if not isinstance(block, ToolUse):
        return block
    kept = {name: str(value)[:WIDTH] for name, value in block.extra.items()}
    return msgspec.structs.replace(block, extra=kept)


def agent(brief: Brief) -> None:
    """The reference agent with a narrow column for calls."""
    build(brief, projection=narrow).run()
