"""The limits of a turn, each with a name, and the budget that a turn shares with its sub-agents.

A cap for each sub-agent does not cap their sum. Tokens are charged after an answer, when the
provider reports them, so one answer may overdraw the budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from harness.agent.models.failures import FailureKind, ModelFailure
from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query

WOKEN = re.compile(r"\W*(?:heartbeat|cron|timer|wake[ -]?up|scheduled)\b", re.IGNORECASE)
"""The beginning of a message that a timer sends."""

ANSWER_TOKENS_MAX = 100_000_000
"""No answer costs this much; a larger count is an error of the counting."""


class Policy(msgspec.Struct, frozen=True):
    """The limits on the cost of a turn, and the failures to retry.

    `retries` counts further requests after a failure of that kind; the SDK has already tried a
    transient one three times, and a permanent one fails again. `max_failures` counts the failures
    of a whole turn, with any successes between them. `runs_calls_on` holds the stop reasons after
    which calls run. After any other reason a call may be cut off, and its input cannot show that.
    `max_tokens` and `max_turn_s` apply to a turn with its sub-agents. `max_woken_tokens` applies to
    all turns that a timer started since the user's last message. `max_depth` and `max_tasks` limit
    sub-agents.
    """

    max_model_calls: int = 50
    max_tokens: int = 5_000_000
    max_turn_s: float = 21_600.0
    max_woken_tokens: int = 900_000
    max_pauses: int = 5
    max_empty_answers: int = 1
    max_failures: int = 12
    max_attempts: int = 2
    max_depth: int = 1
    max_tasks: int = 10
    retries: Mapping[FailureKind, int] = msgspec.field(default_factory=lambda: {"broken_stream": 1})
    runs_calls_on: frozenset[str] = frozenset({"tool_use"})


class TurnBudget(msgspec.Struct):
    """The remaining budget of a turn: tokens, and the time on the clock at which it must end."""

    tokens: int
    until_ms: float
    now_ms: Callable[[], int]

    def check(self) -> None:
        """Raise ModelFailure if the budget is spent."""
        if self.tokens <= 0:
            raise ModelFailure("budget", "its tokens are spent.")
        if self.now_ms() > self.until_ms:
            raise ModelFailure("budget", "its time is over.")


def open_budget(policy: Policy, now_ms: Callable[[], int]) -> TurnBudget:
    """The budget of a turn that begins now."""
    return TurnBudget(policy.max_tokens, now_ms() + policy.max_turn_s * 1000, now_ms)


class Budgets:
    """The budgets of a run's turns. Turns that a timer started share one budget, until a user
    writes."""

    def __init__(self) -> None:
        self._woken: TurnBudget | None = None

    def open(self, policy: Policy, text: str, now_ms: Callable[[], int]) -> TurnBudget:
        """The budget of a turn that begins now with a message of this text."""
        account = open_budget(policy, now_ms)
        if WOKEN.match(text) is None:
            self._woken = None
            return account
        left = policy.max_woken_tokens if self._woken is None else self._woken.tokens
        account.tokens, self._woken = min(account.tokens, left), account
        return account


class BudgetedModel:
    """A model that is called only while the budget is not spent."""

    def __init__(self, model: LanguageModel, account: TurnBudget) -> None:
        self._model, self._account = model, account

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer. Raises ModelFailure."""
        self._account.check()
        answer = self._model.query(query, show)
        if answer.tokens <= ANSWER_TOKENS_MAX:
            self._account.tokens -= answer.tokens
        return answer
