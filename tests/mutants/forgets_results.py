"""What tools returned is stripped from the history on its way to the model."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.conversation.projection import project
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="A proxy strips calls and results, so request N+1 is request N (incidents 71)",
    scenario="identical-failures/polling",
    killed_by="history_faithful.forgotten_result",
)


def _without_tools(messages: Sequence[Message]) -> list[Message]:
    return project([m for m in messages if not m.tool_results and not m.tool_uses])


def agent(brief: Brief) -> None:
    """The reference agent whose requests never show what its tools did."""
    build(brief, projection=_without_tools).run()
