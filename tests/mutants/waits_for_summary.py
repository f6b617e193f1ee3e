"""The request for a summary has no time-out of its own."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="A compaction that hangs holds the turn for half an hour (AutoGPT #12413)",
    scenario="overflow-summaries/hangs",
    killed_by="limit",
)

SDK_S = 3 * 600.0
"""Ten minutes for each of the SDK's three tries."""


def _patient(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    def wait(query: Query) -> ModelAnswer:
        return ask(msgspec.structs.replace(query, timeout_s=SDK_S))

    return compact(messages, budget_tokens, wait)


def agent(brief: Brief) -> None:
    """The reference agent that waits as long as the SDK does."""
    build(brief, compaction=_patient).run()
