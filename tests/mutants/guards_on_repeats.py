"""Guards against the same calls and results: wrong agents that do not see them, or see others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from itertools import count

import msgspec

from harness.agent import build
from harness.agent.conversation.projection import NO_TEXT
from harness.agent.guards import (
    EndTurn,
    Guard,
    Guide,
    Proceed,
    Refuse,
    RepeatGuard,
    standard_guards,
)
from harness.agent.turn_policy import Policy
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse, canonical
from tests.mutants import mutant
from tests.mutants.halt import Halt, instead


class OneByOne(RepeatGuard):
    """Has no batches."""

    def begin_step(self) -> None:
        """Forget the batch."""
        self._batch.clear()
        super().begin_step()


def _one_by_one(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (OneByOne(),)


@mutant(
    breaks="guards",
    statement="A batch that comes again and again is not a circle of single calls (hermes #69695)",
    scenario="circles/batches-of-six",
    killed_by="no_progress_stop.cycle",
)
def calls_one_by_one(brief: Brief) -> None:
    """Circles are looked for among single calls: six calls in one message are too many for one.

    The reference agent that sees no batches.
    """
    build(brief, guards=_one_by_one).run()


class CallsOnly(RepeatGuard):
    """Does not look at results."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the call alone."""
        return super().after(call, msgspec.structs.replace(result, content="", is_error=False))


def _calls_only(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (CallsOnly(),)


@mutant(
    breaks="guards",
    statement="Identical successful polls trip a call-only breaker (seed 101, hermes #14059)",
    scenario="identical-failures/polling",
    killed_by="no_false_stop",
)
def counts_calls_only(brief: Brief) -> None:
    """Equal calls are a loop with any results: polling a job is stopped.

    The reference agent with a breaker that counts calls.
    """
    build(brief, guards=_calls_only).run()


class ResultsOnly(RepeatGuard):
    """Does not look at arguments."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Whether the tool may run."""
        return super().before(msgspec.structs.replace(call, input={}))

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the tool and the result."""
        return super().after(msgspec.structs.replace(call, input={}), result)


def _results_only(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (ResultsOnly(),)


@mutant(
    breaks="guards",
    statement="A constant result stops calls whose arguments differ (hermes #60084, naive remedy)",
    scenario="circles/one-result-for-different-calls",
    killed_by="expect.outcome",
)
def counts_results_only(brief: Brief) -> None:
    """Equal results are a loop for any calls: eight files written are eight times "ok".

    The reference agent with a breaker that counts results.
    """
    build(brief, guards=_results_only).run()


_NOTHING = frozenset({"", NO_TEXT, "[]", "{}", "null", "no matches"})


class NothingIsFailure(Halt):
    """Counts by tool, and nothing as a failure."""

    def failed(self, result: ToolResult) -> bool:
        """Whether it failed, or found nothing."""
        return result.is_error or result.text.strip() in _NOTHING

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """The tool."""
        return call.name


@mutant(
    breaks="guards",
    statement="Empty results and grep's exit 1 count as failures (seed 103, hermes #64927)",
    scenario="circles/no-hits",
    killed_by="no_false_stop",
)
def empty_result_is_failure(brief: Brief) -> None:
    """A result that says nothing is counted as a failure: a search without hits ends the turn.

    The reference agent that takes nothing for a failure.
    """
    build(brief, guards=instead(NothingIsFailure)).run()


class Judged(RepeatGuard):
    """Stops only if the judge agrees."""

    def __init__(self, is_loop: Callable[[str], bool]) -> None:
        super().__init__()
        self._is_loop = is_loop

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Ask the judge about what looks like a loop."""
        decision = super().before(call)
        if isinstance(decision, Proceed) or self._is_loop(decision.text):
            return decision
        return Proceed()


@mutant(
    breaks="guards",
    statement="The breaker asks a model, which says NO, and the loop goes on (seed 105, #16749)",
    scenario="circles/asks-a-judge",
    killed_by="no_progress_stop.same_call",
)
def judge_says_no(brief: Brief) -> None:
    """A model is asked whether this is a loop, and its NO is the end of the matter.

    The reference agent with a model for a judge.
    """
    client = brief.anthropic()

    def is_loop(why: str) -> bool:
        question = {"role": "user", "content": f"Is this a loop? Answer YES or NO. {why}"}
        answer = client.messages.create(
            model="claude-haiku-4-5",
            max_tokens=5,
            messages=[question],
            extra_headers={"x-harness-purpose": "aux"},
        )
        return bool(answer.content[0].text.startswith("YES"))

    def judged(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
        return (Judged(is_loop),)

    build(brief, guards=judged).run()


def _consecutive(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (*standard_guards(tools)[:-1], RepeatGuard(period_max=1))


@mutant(
    breaks="guards",
    statement="A breaker on consecutive calls never fires on A,B,A,B (seed 100, hermes #12632)",
    scenario="circles",
    killed_by="no_progress_stop.cycle",
)
def no_circles(brief: Brief) -> None:
    """Only equal calls one after the other are a loop: A, B, A, B is not.

    The reference agent that sees no circle.
    """
    build(brief, guards=_consecutive).run()


class StartsAnew(RepeatGuard):
    """Refuses once, and has forgotten why."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse, and begin again."""
        decision = super().before(call)
        if not isinstance(decision, Proceed):
            self.__init__()  # type: ignore[misc]
        return decision


def _rounds(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (StartsAnew(),)


@mutant(
    breaks="guards",
    statement="The breaker resets when it fires: a loop in rounds of N (seed 99, hermes #12632)",
    scenario="circles/one-call",
    killed_by="no_progress_stop.same_call",
)
def resets_when_fired(brief: Brief) -> None:
    """A refusal clears the counter: the same call goes on in rounds.

    The reference agent with a breaker that forgets.
    """
    build(brief, guards=_rounds).run()


class Warned(RepeatGuard):
    """Sees results as the model sees them."""

    def __init__(self) -> None:
        super().__init__()
        self._calls_made = count(1)

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the call and its result with the warning."""
        warned = f"{result.text}\n[Warning: call {next(self._calls_made)} of this turn.]"
        return super().after(call, msgspec.structs.replace(result, content=warned))


def _warned(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (Warned(),)


@mutant(
    breaks="guards",
    statement="The identity of a result is taken after the warning is appended (seed 111)",
    scenario="circles/one-call",
    killed_by="no_progress_stop.same_call",
)
def hashes_guidance(brief: Brief) -> None:
    """Results are compared with the warning behind them, whose count makes each another.

    The reference agent that compares its own warnings.
    """
    build(brief, guards=_warned).run()


class Hashed(Halt):
    """Counts by the hash of the error's beginning."""

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """The tool and the hash of 120 units of its error, as a counter in UTF-16 cuts it."""
        units = result.text.encode("utf-16-le", "surrogatepass")[:240]
        beginning = units.decode("utf-16-le", "surrogatepass")
        return call.name, hashlib.sha256(beginning.encode()).hexdigest()


@mutant(
    breaks="guards",
    statement="A lone surrogate crashes the hash of a result (seed 112, hermes guardrails)",
    scenario="repeated-errors/half-an-emoji",
    killed_by="expect.outcome",
)
def surrogate_crash(brief: Brief) -> None:
    """The key is a hash of the first 120 UTF-16 units of a text: half an emoji cannot be encoded.

    The reference agent that hashes what it cut.
    """
    build(brief, guards=instead(Hashed)).run()


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
