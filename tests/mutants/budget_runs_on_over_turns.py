"""The budget of a turn is opened once, and every later turn has what is left of it."""

from __future__ import annotations

from collections.abc import Callable

from harness.agent import build
from harness.agent.turn_policy import Budgets, Policy, TurnBudget
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="policy",
    statement="A budget that runs on over the turns ends a long chat for good (fault M22)",
    scenario="sixty-short-messages",
    killed_by="no_false_stop.unasked",
)


class _Once(Budgets):
    account: TurnBudget | None = None

    def open(self, policy: Policy, text: str, now_ms: Callable[[], int]) -> TurnBudget:
        self.account = self.account or super().open(policy, text, now_ms)
        return self.account


def agent(brief: Brief) -> None:
    """The reference agent with one budget for the whole session."""
    build(brief, budgets=_Once(), policy=Policy(max_tokens=4_000, max_turn_s=10**9)).run()
