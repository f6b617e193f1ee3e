"""A tool is waited for until it answers, even until tomorrow."""

from __future__ import annotations

from harness.agent import build
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="tools",
    statement="A call of a tool has no time-out, and the run stands still for hours",
    scenario="tool-never-returns/an-hour",
    killed_by="bounded_wait.tool",
)

FOR_EVER_S = 10.0**6


def agent(brief: Brief) -> None:
    """The reference agent with all the time in the world."""
    build(brief, tools=Toolbox(brief.tools, timeout_s=FOR_EVER_S)).run()
