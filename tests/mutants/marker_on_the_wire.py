"""Messages get a marker when they are flushed, one turn later, and it is sent with them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.conversation.projection import project
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Message, Text
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="The marker of a stored row reaches the provider (seed 143)",
    scenario="replay-spiral",
    killed_by="valid_request.V29",
)


def _marked(rows: Sequence[Message]) -> list[Message]:
    wire = project(rows)
    return [*map(_stored, wire[:-3]), *wire[-3:]]


def _stored(message: Message) -> Message:
    return Message(message.role, tuple(map(_mark, message.blocks)))


def _mark(block: Block) -> Block:
    if isinstance(block, Text):
        return msgspec.structs.replace(block, extra={"_stored": True})
    return block


def agent(brief: Brief) -> None:
    """The reference agent that sends its markers."""
    build(brief, projection=_marked).run()
