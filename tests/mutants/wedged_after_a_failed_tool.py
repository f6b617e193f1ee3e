"""A tool fails, and the turn never ends."""

from __future__ import annotations

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="gateway",
    statement="In 40 of 68 failures a tool's error was the last line, and no reply came (132)",
    scenario="silence-after-a-failed-tool",
    killed_by="outbound_once.missing",
)


class Wedged(Gateway):
    """Does not know how to go on after an error."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send what was reached without an error."""
        rows = self.store.load(inbound.session)
        failed = any(result.is_error for row in rows for result in row.message.tool_results)
        return failed or super().send(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that is silent then."""
    build(brief, gateway=Wedged).run()
