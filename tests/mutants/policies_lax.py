"""The limits of a run: wrong agents that count them wrongly, or not at all."""

from __future__ import annotations

from collections.abc import Callable

from harness.agent import build
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.turn_policy import Budgets, Policy, TurnBudget
from harness.core.values.brief import Brief
from tests.mutants import mutant
from tests.mutants.own_schedule import Scheduled
from tests.mutants.second_model import Show


class _Once(Budgets):
    account: TurnBudget | None = None

    def open(self, policy: Policy, text: str, now_ms: Callable[[], int]) -> TurnBudget:
        self.account = self.account or super().open(policy, text, now_ms)
        return self.account


@mutant(
    breaks="policy",
    statement="A budget that runs on over the turns ends a long chat for good (fault M22)",
    scenario="sixty-short-messages",
    killed_by="no_false_stop.unasked",
)
def budget_runs_on_over_turns(brief: Brief) -> None:
    """The budget of a turn is opened once, and every later turn has what is left of it.

    The reference agent with one budget for the whole session.
    """
    build(brief, budgets=_Once(), policy=Policy(max_tokens=4_000, max_turn_s=10**9)).run()


class Unforgiving(Scheduled):
    """Waits ten seconds after each failure, until there were nine of them."""

    failures = 0

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Try again while there are attempts left."""
        self.failures += 1
        if self.failures >= 9 or failure.kind != "transient":
            raise failure
        self._waits_s = (10,)
        try:
            return super().failed(failure, query, show)
        except ModelFailure as another:
            return self.failed(another, query, show)


@mutant(
    breaks="policy",
    statement="A count of failed answers is never set back between turns (crewAIInc/crewAI#7018)",
    scenario="burst-of-overload/in-each-of-six-turns",
    killed_by="no_false_stop.unasked",
)
def counts_failures_over_turns(brief: Brief) -> None:
    """The failed answers of all turns share one budget, and the fifth turn is lost to one failure.

    The reference agent that never forgives.
    """
    build(brief, model=Unforgiving(brief, ())).run()


@mutant(
    breaks="policy",
    statement="Heartbeats send the whole conversation, each on its own budget (incident 96)",
    scenario="thirty-heartbeats",
    killed_by="wake_budget.tokens",
)
def each_heartbeat_has_its_own_budget(brief: Brief) -> None:
    """The budget restarts with each message, also with those that a timer sends.

    The reference agent without a budget for what wakes itself.
    """
    build(brief, policy=Policy(max_woken_tokens=1_000_000_000)).run()


@mutant(
    breaks="policy",
    statement="A turn has no ceiling in tokens (claude-code #66950, codex #34477)",
    scenario="budget-of-a-message",
    killed_by="budget_ceiling.tokens",
)
def no_budget(brief: Brief) -> None:
    """The number of requests is bounded, and what they cost is not.

    The reference agent that never looks at the bill.
    """
    build(brief, policy=Policy(max_tokens=10**12)).run()


@mutant(
    breaks="policy",
    statement="The break behind the maximum of iterations was lost (incidents 177, 181)",
    scenario="never-a-final-answer",
    killed_by="bounded_turn.requests",
)
def no_limit_of_requests(brief: Brief) -> None:
    """The bound on the requests of a turn was lost: only a final answer of the model ends it.

    The reference agent without a bound on its requests.
    """
    build(brief, policy=Policy(max_model_calls=10_000)).run()


@mutant(
    breaks="policy",
    statement="A poisoned task is resumed after each start (NousResearch/hermes-agent#7536)",
    scenario="killed-again/whenever-it-is-worked-on",
    killed_by="resume_bounded.again",
)
def resumes_for_ever(brief: Brief) -> None:
    """A turn that was interrupted is taken up at every start.

    The reference agent that does not count how often it has begun.
    """
    build(brief, policy=Policy(max_attempts=100)).run()


def _right_tasks_make_tasks(brief: Brief) -> None:
    """The reference agent with sub-agents, as deep as it allows."""
    build(brief, spawns=True).run()


@mutant(
    breaks="policy",
    statement="Sub-agents keep the spawn tool: 188 agents in a minute (claude-code #68110)",
    scenario="agents-of-agents",
    killed_by="bounded_spawn.depth",
    look_alike=_right_tasks_make_tasks,
)
def tasks_make_tasks(brief: Brief) -> None:
    """A sub-agent is offered the tool that makes sub-agents, and so are its own.

    The reference agent with sub-agents, as deep as they like.
    """
    build(brief, policy=Policy(max_depth=100), spawns=True).run()


@mutant(
    breaks="policy",
    statement="Only the depth of sub-agents was capped, not how many there are (pi-subagents #239)",
    scenario="agents-of-agents/siblings",
    killed_by="bounded_spawn.total",
)
def tasks_without_number(brief: Brief) -> None:
    """The depth of sub-agents is capped, and their number is not.

    The reference agent with any number of sub-agents.
    """
    build(brief, policy=Policy(max_tasks=1000), spawns=True).run()


@mutant(
    breaks="policy",
    statement="A call cut off at max_tokens is run with a part of its input (incidents 114-116)",
    scenario="empty-inputs/truncated-at-max-tokens",
    killed_by="args_complete",
)
def runs_truncated_calls(brief: Brief) -> None:
    """Calls of a reply that was cut at its length are run with what arrived of their input.

    The reference agent that takes a cut reply for a whole one.
    """
    build(brief, policy=Policy(runs_calls_on=frozenset({"tool_use", "max_tokens"}))).run()
