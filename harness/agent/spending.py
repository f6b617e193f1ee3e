"""What one message may cost: tokens and time, of the turn and of all that works for it.

One account is opened for a turn and handed on to its sub-agents, for a cap of each one's own is no
cap of their sum. Who asks the model pays after the answer, when the provider says what it was; so
the account may be overdrawn by one answer, and then nothing more is asked.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.agent.failures import ModelFailure
from harness.agent.model import Answer, Model, Query
from harness.agent.policy import Policy

MOST_TOKENS = 100_000_000
"""No answer costs so much; a larger count is a fault of the counting."""


class Account(msgspec.Struct):
    """What is left for a turn: tokens, and a time on the clock until which it may go on."""

    tokens: int
    until_ms: float
    now_ms: Callable[[], int]

    def check(self) -> None:
        """Raise ModelFailure once nothing is left."""
        if self.tokens <= 0:
            raise ModelFailure("budget", "its tokens are spent.")
        if self.now_ms() > self.until_ms:
            raise ModelFailure("budget", "its time is over.")


def open_account(policy: Policy, now_ms: Callable[[], int]) -> Account:
    """The account of a turn that begins now."""
    return Account(policy.max_tokens, now_ms() + policy.max_turn_s * 1000, now_ms)


class PaidModel:
    """A model that is asked only as long as the account pays for it."""

    def __init__(self, model: Model, account: Account) -> None:
        self._model, self._account = model, account

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> Answer:
        """The model's answer. Raises ModelFailure."""
        self._account.check()
        answer = self._model.query(query, show)
        if answer.tokens <= MOST_TOKENS:
            self._account.tokens -= answer.tokens
        return answer
