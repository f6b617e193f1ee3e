"""Guards that do not see: wrong agents that repeat without a stop."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from harness.agent import build
from harness.agent.guards import Guard, RepeatGuard
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse, canonical
from tests.mutants import mutant
from tests.mutants.halt import Halt, instead


class Nameless(Halt):
    """Counts equal results of equal inputs."""

    def failed(self, result: ToolResult) -> bool:
        """A repetition counts, failed or not."""
        return True

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """Input and result."""
        return canonical(call.input), result.text


@mutant(
    breaks="guards",
    statement="The key of a breaker lacks the tool's name (seed 8)",
    scenario="three-tools-one-answer",
    killed_by="no_false_stop.withdrawn",
)
def breaker_without_the_tools_name(brief: Brief) -> None:
    """A breaker knows a call by its input and its result alone: three tools count as one.

    The reference agent with that breaker.
    """
    build(brief, guards=instead(Nameless)).run()


def _no_guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return ()


def _right_hands_the_task_out_again(brief: Brief) -> None:
    """The reference agent with sub-agents."""
    build(brief, spawns=True).run()


@mutant(
    breaks="guards",
    statement="Two agents hand one task to each other (crewAIInc/crewAI#330, archestra #4462)",
    scenario="handed-back-each-time",
    killed_by="no_progress_stop.refusals",
    look_alike=_right_hands_the_task_out_again,
)
def hands_the_task_out_again(brief: Brief) -> None:
    """A task that comes back undone is handed out again, as it was, for as long as the turn lasts.

    The reference agent with sub-agents, and without guards.
    """
    build(brief, spawns=True, guards=_no_guards, policy=Policy(max_tasks=40)).run()


def _results_only(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (RepeatGuard(),)


@mutant(
    breaks="guards",
    statement="Empty input is run although parameters are required (AutoGPT #12499, #12625)",
    scenario="empty-inputs",
    killed_by="args_complete.empty_input",
)
def no_empty_input_breaker(brief: Brief) -> None:
    """The guards look at results alone: a call without its arguments is run like any other.

    The reference agent with the repeat guard alone.
    """
    build(brief, guards=_results_only).run()
