"""What is stored is what is sent, and the provider does not mind a call without a result."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="The call of a cancelled turn is sent without a result (incidents 11; dify #41846)",
    scenario="forgiving-provider",
    killed_by="tool_pairing.unanswered",
)


def as_stored(rows: Sequence[Message]) -> list[Message]:
    """The rows."""
    return list(rows)


def agent(brief: Brief) -> None:
    """The reference agent that sends its rows as they are."""
    build(brief, projection=as_stored).run()
