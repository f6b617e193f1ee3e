"""The list of replies is read by a place that is one behind."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.changed_replies import ChangedReplies

MUTANT = Mutant(
    breaks="gateway",
    statement="The answer of the turn before is delivered in place of this one",
    scenario="reply-as-the-model-said-it/said-before",
    killed_by="reply_carried.other",
)


class OneBehind(ChangedReplies):
    """Sends the reply at the place before the last."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The reply of the turn before."""
        before = getattr(self, "_before", outcome.text)
        self._before = outcome.text
        return before


def agent(brief: Brief) -> None:
    """The reference agent that is one reply behind."""
    build(brief, gateway=OneBehind).run()
