"""Guards against the same failure: wrong agents whose count ends too early, or never begins."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.agent.guards import (
    Guard,
    Guide,
    IdenticalFailureGuard,
    Proceed,
    RepeatGuard,
    standard_guards,
)
from harness.agent.guards.guard_protocol import result_words
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import mutant
from tests.mutants.halt import Halt, instead


@mutant(
    breaks="guards",
    statement="A harmless success per round hides the loop (seed 121, hermes #35937)",
    scenario="repeated-errors/behind-a-harmless-call",
    killed_by="no_progress_stop.cycle",
)
def any_success_resets(brief: Brief) -> None:
    """Any success clears the counts of failures: one harmless call a round hides the loop.

    The reference agent with the halt on repeated errors alone.
    """
    build(brief, guards=instead(Halt)).run()


@mutant(
    breaks="guards",
    statement="Errors that differ after 120 characters are one key (seed 117, hermes #35937)",
    scenario="repeated-errors/one-beginning",
    killed_by="expect.outcome",
)
def error_key_is_cut(brief: Brief) -> None:
    """Errors with one beginning are one error: a compiler's long command line comes before each.

    The reference agent that reads the beginning of an error.
    """
    build(brief, guards=instead(Halt)).run()


def _raw(tools: object) -> tuple[Halt, RepeatGuard]:
    return Halt(), RepeatGuard()


@mutant(
    breaks="guards",
    statement="A timestamp or id in the error defeats the breaker (seed 118, hermes #35937)",
    scenario="repeated-errors/with-a-time-in-it",
    killed_by="no_progress_stop.same_failure",
)
def error_text_as_key(brief: Brief) -> None:
    """Errors are compared by their first 120 characters: a time in them makes each another.

    The reference agent without a fingerprint of errors.
    """
    build(brief, guards=_raw).run()


class TextOnly(RepeatGuard):
    """Takes the content of every result for text."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the call and the beginning of its text."""
        beginning = result.content.lower()[:120]  # type: ignore[union-attr]
        return super().after(call, ToolResult(result.id, beginning, result.is_error))


def _text_only(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (TextOnly(),)


@mutant(
    breaks="guards",
    statement="Keying raises for None, bytes and blocks (seed 124, hermes #35937)",
    scenario="circles/pictures",
    killed_by="no_false_stop.ended",
)
def keying_raises(brief: Brief) -> None:
    """The key of a result is made of its text, and a picture has none: its guard ends the turn.

    The reference agent with a guard for texts.
    """
    build(brief, guards=_text_only).run()


class SingleStreak(Halt):
    """Another failure begins a new streak."""

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """Forget every other failure."""
        key = super().key(call, result)
        for other in self.counts.keys() - {key}:
            del self.counts[other]
        return key


@mutant(
    breaks="guards",
    statement="Two tools failing alternately never reach three in a row (seed 119, hermes #35937)",
    scenario="repeated-errors/two-tools-in-turn",
    killed_by="no_progress_stop.cycle",
)
def single_streak(brief: Brief) -> None:
    """One streak for all tools: two that fail in turn never fill it.

    The reference agent with one streak of failures.
    """
    build(brief, guards=instead(SingleStreak)).run()


@mutant(
    breaks="guards",
    statement="A stale halt flag ends the next turn (seed 123, hermes #35937)",
    scenario="circles/next-turn-is-fresh",
    killed_by="no_false_stop",
)
def stale_guards(brief: Brief) -> None:
    """The guards of a turn are kept for the next: a stop that is long over ends that one too.

    The reference agent with one set of guards for all turns.
    """
    guards = standard_guards(standard_tools(brief).specs)

    def kept(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
        return guards

    build(brief, guards=kept).run()


class ByWords(IdenticalFailureGuard):
    """Forgets all streaks when the error says something else."""

    _last = ""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Count a failure with the words of the last one."""
        if result.is_error and result_words(result) != self._last:
            self._of_call.clear()
            self._of_tool.clear()
            self._last = result_words(result)
        return super().after(call, result)


def _by_words(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (ByWords(),)


@mutant(
    breaks="guards",
    statement="One call that fails with another error each time runs twenty times (seeds 1, 102)",
    scenario="fails-in-other-words",
    killed_by="no_progress_stop.failing_call",
)
def error_words_begin_anew(brief: Brief) -> None:
    """The breaker compares the words of errors: a call that fails in other words counts from one.

    The reference agent with that breaker.
    """
    build(brief, guards=_by_words).run()


class ClearedByPrefix(IdenticalFailureGuard):
    """After a success, forgets the failures of every tool whose name begins like that one's."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Clear what begins with the name."""
        if result.is_error:
            return super().after(call, result)
        for counters in (self._of_tool, self._of_call):
            for name in [key for key in counters if key.startswith(call.name)]:
                del counters[name]
        return Proceed()


def _cleared_by_prefix(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (ClearedByPrefix(),)


@mutant(
    breaks="guards",
    statement="Clearing by prefix takes the counters of another tool with it (seeds 9)",
    scenario="identical-failures/harmless-success-between",
    killed_by="no_progress_stop.cycle",
)
def success_clears_by_prefix(brief: Brief) -> None:
    """Counters are cleared by the beginning of a name: a success of `read` clears `read_file`.

    Nothing else watches, as in the original: it had no eye for circles.

    The reference agent that clears by prefix.
    """
    build(brief, guards=_cleared_by_prefix).run()


class OnlyFailures(IdenticalFailureGuard):
    """Learns only of failures."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Leave a success out."""
        return super().after(call, result) if result.is_error else Proceed()


def _only_failures(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (OnlyFailures(), RepeatGuard())


@mutant(
    breaks="guards",
    statement="The counter of failures survives a success (seeds 2)",
    scenario="identical-failures/fails-between-successes",
    killed_by="no_false_stop",
)
def success_clears_nothing(brief: Brief) -> None:
    """Failures are counted over the whole turn: a success between them does not reset the count.

    The reference agent whose counters only grow.
    """
    build(brief, guards=_only_failures).run()


class PerTool(Halt):
    """Counts by tool alone."""

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """The tool, without its arguments and error."""
        return call.name

    def succeeded(self, call: ToolUse) -> None:
        """Forget the failures of that tool."""
        del self.counts[call.name]


@mutant(
    breaks="guards",
    statement="A counter per tool is cleared by each success of it (seeds 8, 102, hermes #14059)",
    scenario="repeated-errors/behind-a-success-of-the-tool",
    killed_by="no_progress_stop.cycle",
)
def tool_success_resets(brief: Brief) -> None:
    """A success of a tool clears what failed with other arguments too.

    The reference agent with the counter per tool alone.
    """
    build(brief, guards=instead(PerTool)).run()
