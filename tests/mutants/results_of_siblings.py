"""Calls beside others: agents that tell their results by a failure, or lose them by a stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse, results
from tests.mutants import mutant
from tests.mutants.altered_results import play_with


@mutant(
    breaks="tools",
    statement="A batch is told as not run because one call of it failed",
    scenario="what-the-tools-said/beside-one-that-fails",
    killed_by="result_carried.discarded",
)
def discards_a_batch(brief: Brief) -> None:
    """After one failed call, the results of all later calls are thrown away.

    The reference agent that discards what ran beside a failed call.
    """
    failed = list[str]()

    def discarded(call: ToolUse, result: ToolResult) -> ToolResult:
        if result.is_error:
            failed.append(call.id)
        elif failed:
            return ToolResult(call.id, "Not run, because another call failed.", is_error=True)
        return result

    play_with(brief, discarded)


def _told_after_a_failure(brief: Brief, beside: Callable[[str, str], str]) -> None:
    """What a call says after one that failed, made of that error and of its result."""
    errors = list[str]()

    def told(call: ToolUse, result: ToolResult) -> ToolResult:
        if result.is_error:
            errors.append(result.text)
        elif errors:
            text = beside(errors[0], result.text)
            return ToolResult(call.id, text, is_error=text == errors[0])
        return result

    play_with(brief, told)


def tells_of_the_error_beside(brief: Brief) -> None:
    """A call that succeeded has its result, and a word about the call that failed."""
    _told_after_a_failure(brief, lambda error, own: f"{own}\n(Another call failed: {error})")


@mutant(
    breaks="tools",
    statement="The error of one parallel call stands under the id of another (smolagents#2554)",
    scenario="one-of-many-fails/the-first",
    killed_by="result_carried.discarded",
    look_alike=tells_of_the_error_beside,
)
def tells_the_error_under_each_call(brief: Brief) -> None:
    """A call that succeeded is told by the error of the call that failed beside it.

    The reference agent that tells one error under both ids.
    """
    _told_after_a_failure(brief, lambda error, _: error)


class ForgetsAtAStop(Loop):
    """Keeps the results of a batch only where nothing stopped it."""

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run the calls; after a stop each of them is told as interrupted."""
        answered = [self.result_of(call, calls[:place]) for place, call in enumerate(calls)]
        if self.is_cancelled():
            told = "The call was interrupted, and its outcome is unknown."
            answered = [error_result(call, told) for call in calls]
        self.transcript.append(results(*answered))
        return None


@mutant(
    breaks="turn",
    statement="A stop erases the results of the calls that had ended (code_puppy#782)",
    scenario="many-messages-and-a-stop",
    killed_by="result_carried.stopped",
)
def forgets_results_at_a_stop(brief: Brief) -> None:
    """After a stop, the model reads of no call of the batch what became of it.

    The reference agent that keeps the results of a batch as a whole.
    """
    build(brief, turn=ForgetsAtAStop).run()
