"""Guards and the arguments of calls: wrong agents that record or refuse other ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.guards import (
    EmptyInputGuard,
    Guard,
    Guide,
    IdenticalFailureGuard,
    Proceed,
    RepeatGuard,
    standard_guards,
)
from harness.agent.guards.guard_protocol import needed_by
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import mutant


class RecordsExpanded(IdenticalFailureGuard):
    """Is asked about one call and given another."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Record the call with a reference in its arguments replaced."""
        expanded = {**(call.input or {}), "expanded": True}
        return super().after(msgspec.structs.replace(call, input=expanded), result)


def _recording(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (EmptyInputGuard(needed_by(tools)), RecordsExpanded())


@mutant(
    breaks="guards",
    statement="Checked on raw and recorded on expanded arguments, it never trips (seeds 11)",
    scenario="identical-failures",
    killed_by="no_progress_stop.same_failure",
)
def records_expanded_arguments(brief: Brief) -> None:
    """The check looks for the arguments as the model wrote them, the record holds them expanded.

    The reference agent whose breaker compares what is never equal.
    """
    build(brief, guards=_recording).run()


def _name_of(name: str, input: object) -> str:
    return name


def _by_name(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (IdenticalFailureGuard(identify=_name_of), RepeatGuard())


@mutant(
    breaks="guards",
    statement="Keyed by tool and error alone, a corrected call is refused (seeds 3, 120)",
    scenario="identical-failures/corrected-at-the-fourth",
    killed_by="expect.calls",
)
def refuses_changed_arguments(brief: Brief) -> None:
    """A tool that failed three times is refused with any arguments, also with changed ones.

    The reference agent that does not look at arguments.
    """
    build(brief, guards=_by_name).run()


@mutant(
    breaks="guards",
    statement="Counters of one session count in another (seeds 14; 114 for turns)",
    scenario="identical-failures/two-sessions",
    killed_by="no_false_stop",
)
def counters_shared_between_sessions(brief: Brief) -> None:
    """One set of guards serves every session: what failed for one user is refused to the next.

    The reference agent that makes its guards once.
    """
    made: list[Guard] = []

    def shared(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
        made.extend(() if made else standard_guards(tools))
        return made

    build(brief, guards=shared).run()
