"""After a compaction the system text is another one: the rules were pinned nowhere."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.agent import build
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.early import Early

MUTANT = Mutant(
    breaks="model",
    statement="The rules of the system text do not outlive a compaction",
    scenario="in-good-time",
    killed_by="compaction_preserves.rules",
)


class Unruly(AnthropicModel):
    """Says the rules only until the first summary."""

    compacted = False

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer, without the rules."""
        if query.purpose == "compact":
            self.compacted = True
        elif self.compacted:
            query = msgspec.structs.replace(query, system="Go on.")
        return super().query(query, show)


def agent(brief: Brief) -> None:
    """The reference agent whose rules are forgotten."""
    build(brief, turn=Early, model=Unruly(brief.anthropic(), stream=False)).run()
