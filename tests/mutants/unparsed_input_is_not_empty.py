"""The wrapper of arguments that were cut in transit is taken for arguments."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, IdenticalFailureGuard, RepeatGuard
from harness.agent.guards.guard_protocol import is_unparsed, needed_by
from harness.agent.toolbox import Toolbox, content_of
from harness.core.values.brief import Brief, Tool
from harness.core.values.messages import Json, ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant
from tests.mutants.null_input_is_not_empty import MissesSome

MUTANT = Mutant(
    breaks="guards, tools",
    statement="`__unparsedToolInput` is not empty, so both layers miss it (seeds 35)",
    scenario="empty-inputs/unparsed-input",
    killed_by="args_complete.empty_input",
)


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


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (MissesUnparsed(needed_by(tools)), IdenticalFailureGuard(), RepeatGuard())


def agent(brief: Brief) -> None:
    """The reference agent that runs a call with the wrapper as its arguments."""
    build(brief, guards=_guards, tools=RunsWhatCame(brief.tools)).run()
