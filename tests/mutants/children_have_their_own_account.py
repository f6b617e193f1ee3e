"""Each sub-agent has its own budget, and the turn pays for none of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.turn_policy import BudgetedModel, Policy, open_budget
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="Sub-agents each kept to their budget, and cost six times the message's (87, 90)",
    scenario="children-spend-the-budget",
    killed_by="budget_ceiling.tokens",
)


def own_account(
    brief: Brief, transcript: Any, paid: BudgetedModel, *parts: Any, **more: Any
) -> Loop:
    """A loop whose model is paid from an account that was opened for it alone."""
    account = open_budget(Policy(), brief.clock.now_ms)
    return Loop(transcript, BudgetedModel(paid._model, account), *parts, **more)


def agent(brief: Brief) -> None:
    """The reference agent whose family does not share."""
    build(brief, turn=partial(own_account, brief), spawns=True).run()
