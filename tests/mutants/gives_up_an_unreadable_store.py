"""What a former run left undone is looked for once, at the start, and a failure there is fatal."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="One failed read at the start ends the agent (incident 169; faults P20)",
    scenario="failing-store/not-readable-at-the-start",
    killed_by="target.crashed",
)


class HastyGateway(Gateway):
    """Reads once."""

    def catch_up(self) -> None:
        """Read, or end."""
        if self.recovery_due:
            left, self.recovery_due = self.store.pending(), False
            for pending in left:
                self.recover(pending)


def agent(brief: Brief) -> None:
    """The reference agent without patience at its start."""
    build(brief, store=brief.store, gateway=HastyGateway).run()
