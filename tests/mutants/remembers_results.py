"""A call is answered from a cache by its tool and input, without a look at the session or time."""

from __future__ import annotations

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse, canonical
from tests.mutants import Mutant
from tests.mutants.altered_results import AlteredTools

MUTANT = Mutant(
    breaks="tools",
    statement="The second equal call is answered from a cache (crewAIInc/crewAI#6509)",
    scenario="what-the-tools-said/asked-by-another-user",
    killed_by="result_carried.other",
)


class _Cached(AlteredTools):
    def __init__(self, tools: object) -> None:
        super().__init__(tools, lambda call, result: result)  # type: ignore[arg-type]
        self._results: dict[str, ToolResult] = {}

    def prepared(self, prepare: object) -> _Cached:
        return self

    def run(self, call: ToolUse) -> ToolResult:
        key = canonical([call.name, call.input])
        if key not in self._results:
            self._results[key] = super().run(call)
        return ToolResult(call.id, self._results[key].content, self._results[key].is_error)


def agent(brief: Brief) -> None:
    """The reference agent with one cache of results for all users."""
    build(brief, tools=_Cached(standard_tools(brief))).run()
