"""What the tests of breakers share: calls carried out on a guard, and the right agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from harness.agent import agent as reference
from harness.agent.guards import Decision, Guard, Proceed, Watch
from harness.core.values.messages import Json, ToolResult, ToolUse
from harness.runner import Run, run
from tests.scenarios.all_runs import named

Step: TypeAlias = tuple[str, Json, Json]
"""Tool, input and result; an error result is an exception."""


def decide(guard: Guard | Watch, *calls: Step) -> list[Decision]:
    """Carry out one batch; each call's decision, after its result if it ran."""
    guard.begin_step()
    decisions: list[Decision] = []
    for name, given, said in calls:
        call = ToolUse("t", name, given)
        decision: Decision = guard.before(call)
        if isinstance(decision, Proceed):
            failed = isinstance(said, Exception)
            decision = guard.after(call, ToolResult("t", str(said), is_error=failed))
        decisions.append(decision)
    return decisions


def words(guard: Guard | Watch, *calls: Step) -> list[str]:
    """The decisions on one batch, in words."""
    return [type(decision).__name__ for decision in decide(guard, *calls)]


def one_by_one(guard: Guard | Watch, calls: Iterable[Step]) -> list[str]:
    """The decisions on calls in messages of their own, in words."""
    return [word for call in calls for word in words(guard, call)]


def runs_before_refusal(decisions: list[str]) -> int:
    """How many calls ran before the first that did not."""
    return next((n for n, d in enumerate(decisions) if d in ("Refuse", "EndTurn")), len(decisions))


def passes(scenario: str) -> Run:
    """The reference agent's run of a scenario, which has no finding."""
    done = run(named(scenario), reference)
    assert done.verdict.verdict == "pass", done.verdict.findings
    return done
