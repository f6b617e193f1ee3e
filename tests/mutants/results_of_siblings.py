"""Calls beside one that failed: wrong agents that tell their results by that failure."""

from __future__ import annotations

from collections.abc import Callable

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
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
