"""A start puts the results of parallel calls in the order in which it happens to find them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.agent import build
from harness.agent.conversation.projection import project
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="A recovery depends on the order of durable writes (langgraph#8039)",
    scenario="recovered-twice",
    killed_by="resume_prefix.differs",
)


def _turned(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request, with parallel results from last to first."""
    return [
        Message(message.role, tuple(reversed(message.blocks))) if message.tool_results else message
        for message in project(rows)
    ]


def agent(brief: Brief) -> None:
    """The reference agent whose starts disagree: a count of them stands for a race of writes."""
    starts = Path(brief.session_dir) / "starts"
    number = starts.stat().st_size if starts.exists() else 0
    starts.write_bytes(bytes(number + 1))
    build(brief, projection=_turned if number % 2 else project).run()


def look_alike(brief: Brief) -> None:
    """One whose starts all put the last result first."""
    build(brief, projection=_turned).run()
