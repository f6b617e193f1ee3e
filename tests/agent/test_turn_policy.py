"""An account is overdrawn by one answer at most, for any caller."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent import agent
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.turn_policy import BudgetedModel, Policy, TurnBudget, open_budget
from harness.core.values.messages import assistant, user
from harness.runner import run
from tests.scenarios.all_runs import named

QUERY = Query((user("go"),))


class Dear:
    """A model whose answers cost a given number of tokens each."""

    def __init__(self, *costs: int) -> None:
        self.costs = list(costs)

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The next answer."""
        return ModelAnswer(assistant("hm"), "end_turn", self.costs.pop(0))


def _account(tokens: int, until_ms: float = 10.0, now_ms: int = 0) -> TurnBudget:
    return TurnBudget(tokens, until_ms, lambda: now_ms)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 30), st.integers(0, 20))
def test_two_models_share_what_there_is(costs: list[int], tokens: int, first: int) -> None:
    account, asked, spent = _account(tokens), 0, 0
    models = (
        BudgetedModel(Dear(*costs[:first]), account),
        BudgetedModel(Dear(*costs[first:]), account),
    )
    for place, cost in enumerate(costs):
        if spent >= tokens:
            with pytest.raises(ModelFailure) as failed:
                models[place >= first].query(QUERY)
            assert failed.value.kind == "budget"
            break
        models[place >= first].query(QUERY)
        asked, spent = asked + 1, spent + cost
    assert account.tokens == tokens - spent


def test_time_is_spent_as_well() -> None:
    with pytest.raises(ModelFailure, match="time"):
        BudgetedModel(Dear(1), _account(9, until_ms=10, now_ms=11)).query(QUERY)
    account = open_budget(Policy(max_tokens=7, max_turn_s=2), lambda: 500)
    assert (account.tokens, account.until_ms) == (7, 2500)


def test_the_user_is_told_and_a_new_message_is_answered() -> None:
    history = run(named("budget-of-a-message"), agent).history
    (said,) = [s.request for s in history.trace.sendings]
    assert (said.kind, said.status) == ("error", "failed")
    assert "budget_spent" in said.text
