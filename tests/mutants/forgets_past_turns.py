"""Each turn starts from nothing: the request holds what was said since the last message alone."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.conversation.projection import project
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="A failed resume falls back to a fresh session without notice (incidents 175)",
    scenario="replay-spiral",
    killed_by="history_faithful.forgotten_reply",
)


def _this_turn(messages: Sequence[Message]) -> list[Message]:
    said = [i for i, m in enumerate(messages) if m.role == "user" and not m.tool_results]
    return project(messages[said[-1] :] if said else messages)


def agent(brief: Brief) -> None:
    """The reference agent without a memory of former turns."""
    build(brief, projection=_this_turn).run()
