"""Answers are cached by the words of the question alone."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="An equal question of another user is answered from the cache",
    scenario="reply-as-the-model-said-it/to-two-users",
    killed_by="reply_carried.session",
)


class Cache(ChangedReplies):
    """Keeps replies by question, and not by session."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The first reply to these words."""
        known: dict[str, str] = self.__dict__.setdefault("_known", {})
        return known.setdefault(inbound.text, outcome.text)


def agent(brief: Brief) -> None:
    """The reference agent with one cache for all sessions."""
    build(brief, gateway=Cache).run()
