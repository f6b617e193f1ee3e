"""What mutants of the summary share: the reference agent whose request for a summary is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, Compaction, compact
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, user

Lines: TypeAlias = list[str]


def told_otherwise(change: Callable[[Lines], Lines]) -> Compaction:
    """The compaction whose model is shown other lines of the conversation."""

    def shorten(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
        def asked(query: Query) -> ModelAnswer:
            task, _, told = query.messages[0].text.partition("\n\n")
            said = "\n".join(change(told.splitlines()))
            return ask(msgspec.structs.replace(query, messages=(user(f"{task}\n\n{said}"),)))

        return compact(messages, budget_tokens, asked)

    return shorten


def build_with(change: Callable[[Lines], Lines], brief: Brief) -> None:
    """Run the reference agent with such a compaction."""
    build(brief, compaction=told_otherwise(change)).run()
