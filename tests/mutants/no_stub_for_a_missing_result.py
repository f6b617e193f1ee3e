"""A call whose result is missing is sent without one."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.conversation.projection import NO_OUTCOME, project
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, ToolResult
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="A call without a result makes every later request invalid (seed 152)",
    scenario="damaged-history/no-result",
    killed_by="valid_request",
)


def _unstubbed(rows: Sequence[Message]) -> list[Message]:
    wire = [Message(m.role, tuple(b for b in m.blocks if not _is_stub(b))) for m in project(rows)]
    return [message for message in wire if message.blocks]


def _is_stub(block: object) -> bool:
    return isinstance(block, ToolResult) and block.content == NO_OUTCOME


def agent(brief: Brief) -> None:
    """The reference agent without stubs."""
    build(brief, projection=_unstubbed).run()
