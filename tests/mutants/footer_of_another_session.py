"""A reply ends with the last one that the agent gave, to this user or to another."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="A field of the gateway keeps what belongs to one session (seed 14)",
    scenario="words-of-another-user",
    killed_by="session_isolation.reply",
)


class Quoting(Gateway):
    """Keeps one last reply for all sessions."""

    last = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Say how a turn ended, and what was said before."""
        text, self.last = f"{outcome.text}\n\n{self.last}".strip(), outcome.text
        return super().send(inbound, msgspec.structs.replace(outcome, told=text))


def agent(brief: Brief) -> None:
    """The reference agent with that footer."""
    build(brief, gateway=Quoting).run()
