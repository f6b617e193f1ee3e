"""Guards against an empty input: wrong agents that miss one, or find one where there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.agent import build
from harness.agent.guards import (
    EmptyInputGuard,
    EndTurn,
    Guard,
    IdenticalFailureGuard,
    Proceed,
    Refuse,
    RepeatGuard,
    Watch,
    standard_guards,
)
from harness.agent.guards.guard_protocol import bare_name, is_empty, is_unparsed, needed_by
from harness.agent.toolbox import Toolbox, content_of
from harness.core.values.brief import Brief, Tool
from harness.core.values.messages import Json, ToolResult, ToolSpec, ToolUse
from tests.mutants import mutant


def _all_need_arguments(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    schema = {"type": "object", "required": ["input"]}
    return standard_guards([msgspec.structs.replace(t, input_schema=schema) for t in tools])


@mutant(
    breaks="guards",
    statement="Tools without parameters trip the empty-input breaker (AutoGPT, 30 April)",
    scenario="empty-inputs/no-arguments-needed",
    killed_by="no_false_stop",
)
def breaker_counts_no_argument_tools(brief: Brief) -> None:
    """The breaker on empty input takes every `{}` for a loss, also where nothing is required.

    The reference agent that believes that every tool needs arguments.
    """
    build(brief, guards=_all_need_arguments).run()


class CountsMessages(EmptyInputGuard):
    """Counts messages with an empty call in a row; any message without one resets the count."""

    def __init__(self, needed: Callable[[str], Sequence[str]], limit: int = 3) -> None:
        super().__init__(needed, limit)
        self._needs, self._at_most = needed, limit
        self._in_a_row, self._is_counted = 0, True

    def begin_step(self) -> None:
        """A message begins; the one before had no empty call if it was not counted."""
        self._in_a_row = self._in_a_row if self._is_counted else 0
        self._is_counted = False
        super().begin_step()

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Refuse an empty call, and end the turn with the message that is one too many."""
        if not is_empty(call.input) or not self._needs(call.name):
            return Proceed()
        self._in_a_row += not self._is_counted
        self._is_counted = True
        if self._in_a_row > self._at_most:
            return EndTurn("too many messages had a call without arguments.")
        return Refuse(f"{call.name} was not run: its arguments did not arrive.")


def _counting_messages(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (CountsMessages(needed_by(tools)),)


@mutant(
    breaks="guards",
    statement="One empty call in a message hides the good one beside it (seeds 20)",
    scenario="empty-inputs/one-good-call-each",
    killed_by="expect.outcome",
)
def breaker_counts_messages(brief: Brief) -> None:
    """A message with one empty call counts as empty, even if its other calls succeed.

    The reference agent that counts messages, not tools.
    """
    build(brief, guards=_counting_messages).run()


@mutant(
    breaks="guards",
    statement="A call without parameters between empty calls clears the count (seeds 22, 25)",
    scenario="empty-inputs/between-harmless-calls",
    killed_by="expect.calls",
)
def breaker_cleared_by_harmless_call(brief: Brief) -> None:
    """A message without an empty call clears the count, so one harmless call hides the loop.

    The reference agent that counts messages in a row, and refusals not at all.
    """
    build(brief, guards=_counting_messages, watch=lambda guards: Watch(guards, refusals=1000)).run()


class MissesSome(EmptyInputGuard):
    """Lets some empty inputs pass."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Look at the others."""
        return Proceed() if self.misses(call.input) else super().before(call)

    def misses(self, input: Json) -> bool:
        """Whether this one passes: null."""
        return input is None


def _missing_some(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (MissesSome(needed_by(tools)), IdenticalFailureGuard(), RepeatGuard())


@mutant(
    breaks="guards",
    statement="A null input is not counted as empty (seeds 19)",
    scenario="empty-inputs/null-input",
    killed_by="args_complete.empty_input",
)
def null_input_is_not_empty(brief: Brief) -> None:
    """Only `{}` is an empty input; null is run. The reference agent that runs a call with null."""
    build(brief, guards=_missing_some).run()


class MissesUnparsed(MissesSome):
    """Lets the wrapper pass."""

    def misses(self, input: Json) -> bool:
        """Whether this is the wrapper."""
        return is_unparsed(input)


class RunsWhatCame(Toolbox):
    """Gives a tool the raw input of the call."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self._by_name = {tool.name: tool for tool in tools}

    def run(self, call: ToolUse) -> ToolResult:
        """Run a call without a look at its input."""
        try:
            return ToolResult(
                call.id, content_of(self._by_name[call.name].call(call.input, id=call.id))
            )
        except Exception as error:
            return ToolResult(call.id, str(error), is_error=True)


def _missing_unparsed(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (MissesUnparsed(needed_by(tools)), IdenticalFailureGuard(), RepeatGuard())


@mutant(
    breaks="guards, tools",
    statement="`__unparsedToolInput` is not empty, so both layers miss it (seeds 35)",
    scenario="empty-inputs/unparsed-input",
    killed_by="args_complete.empty_input",
)
def unparsed_input_is_not_empty(brief: Brief) -> None:
    """The wrapper of arguments that were cut in transit is taken for arguments.

    The reference agent that runs a call with the wrapper as its arguments.
    """
    build(brief, guards=_missing_unparsed, tools=RunsWhatCame(brief.tools)).run()


def _needing_all(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    named = {tool.name: tuple(tool.input_schema.get("properties") or ()) for tool in tools}
    return (EmptyInputGuard(lambda name: named.get(name, ())),)


@mutant(
    breaks="guards",
    statement="Tools with optional parameters alone get guidance on truncation (seeds 24)",
    scenario="empty-inputs/optional-arguments-only",
    killed_by="no_false_stop",
)
def optional_arguments_are_missed(brief: Brief) -> None:
    """A tool that has parameters is taken to need them: an ordinary `{}` is guided and refused.

    The reference agent that exempts only tools without any parameter.
    """
    build(brief, guards=_needing_all).run()


def _exempt_by_bare_name(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    exempt = {bare_name(tool.name) for tool in tools if not tool.required}
    return (EmptyInputGuard(lambda name: () if name in exempt else ("arguments",)),)


@mutant(
    breaks="guards",
    statement="A tool without parameters is exempt by its bare name alone (seeds 23)",
    scenario="empty-inputs/no-arguments-needed-prefixed",
    killed_by="no_false_stop",
)
def prefixed_names_are_not_exempt(brief: Brief) -> None:
    """Tools that need nothing are known by their bare names; the stream shows them with a prefix.

    The reference agent that does not know a tool by its prefixed name.
    """
    build(brief, guards=_exempt_by_bare_name).run()


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
