"""Arguments are validated in front of the guards: an empty call is answered, and never counted."""

from __future__ import annotations

from harness.agent import build
from harness.agent.guards import Decision, Refuse, Watch
from harness.agent.guards.guard_protocol import is_empty
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="watch",
    statement="The layer that checks `required` answers, and the breaker never counts (seeds 34)",
    scenario="empty-inputs",
    killed_by="no_progress_stop.refusals",
)


class ValidatesFirst(Watch):
    """Refuses before any guard is asked."""

    def before(self, call: ToolUse) -> Decision:
        """Validate, then ask the guards."""
        return Refuse("Field required") if is_empty(call.input) else super().before(call)


def agent(brief: Brief) -> None:
    """The reference agent with a validator in front of its breaker."""
    build(brief, watch=ValidatesFirst).run()
