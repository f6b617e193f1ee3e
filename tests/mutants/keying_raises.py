"""The key of a result is made of its text, and a picture has none: its guard ends the turn."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, Guide, Proceed, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Keying raises for None, bytes and blocks (seed 124, hermes #35937)",
    scenario="circles/pictures",
    killed_by="no_false_stop.ended",
)


class TextOnly(RepeatGuard):
    """Takes the content of every result for text."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the call and the beginning of its text."""
        beginning = result.content.lower()[:120]  # type: ignore[union-attr]
        return super().after(call, ToolResult(result.id, beginning, result.is_error))


def _text_only(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (TextOnly(),)


def agent(brief: Brief) -> None:
    """The reference agent with a guard for texts."""
    build(brief, guards=_text_only).run()
