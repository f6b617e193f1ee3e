"""The watch over a turn: wrong agents that ask too few guards, or do not do what these say."""

from __future__ import annotations

from harness.agent import build
from harness.agent.guards import Decision, EndTurn, Proceed, Refuse, Watch
from harness.agent.guards.guard_protocol import is_empty
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse
from tests.mutants import mutant


class WarnsOnly(Watch):
    """Guides, and never refuses."""

    def before(self, call: ToolUse) -> Decision:
        """Every call may run."""
        return Proceed()


@mutant(
    breaks="watch",
    statement="Warned from the second failure on, it runs to the limit (seed 106, hermes 0.13.0)",
    scenario="identical-failures",
    killed_by="no_progress_stop.same_failure",
)
def warnings_only(brief: Brief) -> None:
    """The hard stop is off: what the guards know is told to the model, and the calls run.

    The reference agent with warnings alone.
    """
    build(brief, watch=WarnsOnly).run()


class RefusesForever(Watch):
    """Refuses, and leaves it at that."""

    def before(self, call: ToolUse) -> Decision:
        """A refusal in place of the end of the turn."""
        decision = super().before(call)
        return Refuse(decision.text) if isinstance(decision, EndTurn) else decision


@mutant(
    breaks="watch",
    statement="Blocked calls are not counted towards any limit (seed 113, hermes #96579)",
    scenario="identical-failures",
    killed_by="no_progress_stop.refusals",
)
def refusals_uncounted(brief: Brief) -> None:
    """A refused call has no result, so nothing counts it: it is refused until the budget is gone.

    The reference agent that only ever refuses.
    """
    build(brief, watch=RefusesForever).run()


class ValidatesFirst(Watch):
    """Refuses before any guard is asked."""

    def before(self, call: ToolUse) -> Decision:
        """Validate, then ask the guards."""
        return Refuse("Field required") if is_empty(call.input) else super().before(call)


@mutant(
    breaks="watch",
    statement="The layer that checks `required` answers, and the breaker never counts (seeds 34)",
    scenario="empty-inputs",
    killed_by="no_progress_stop.refusals",
)
def validation_hides_calls(brief: Brief) -> None:
    """Arguments are validated in front of the guards: an empty call is answered, and never counted.

    The reference agent with a validator in front of its breaker.
    """
    build(brief, watch=ValidatesFirst).run()


class AsksFirst(Watch):
    """Decides on a batch by what was known when it began."""

    def begin_step(self) -> None:
        """Nothing of the batch is known to be wrong."""
        super().begin_step()
        self._decided: Decision | None = None

    def before(self, call: ToolUse) -> Decision:
        """The decision on the first call of the batch; the rest of it is alike."""
        if self._decided is None or not isinstance(self._decided, Proceed):
            self._decided = super().before(call)
        return self._decided


@mutant(
    breaks="watch",
    statement="A batch passes the check before any of it is recorded (seeds 15, 98)",
    scenario="circles/in-one-batch",
    killed_by="no_progress_stop.same_call",
)
def asks_once_for_a_batch(brief: Brief) -> None:
    """The guards are asked for a whole batch before any of it has run: a loop inside it is unseen.

    The reference agent with guards that are asked once for a batch.
    """
    build(brief, watch=AsksFirst).run()
