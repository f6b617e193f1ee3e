"""The breaker on empty input takes every `{}` for a loss, also where nothing is required."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.guards import Guard, standard_guards
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Tools without parameters trip the empty-input breaker (AutoGPT, 30 April)",
    scenario="empty-inputs/no-arguments-needed",
    killed_by="no_false_stop",
)


def _all_need_arguments(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    schema = {"type": "object", "required": ["input"]}
    return standard_guards([msgspec.structs.replace(t, input_schema=schema) for t in tools])


def agent(brief: Brief) -> None:
    """The reference agent that believes that every tool needs arguments."""
    build(brief, guards=_all_need_arguments).run()
