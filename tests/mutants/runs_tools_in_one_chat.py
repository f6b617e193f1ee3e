"""The session in which tools run is a constant of the program."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from harness.agent import build
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="tools",
    statement="A tool runs in another chat than the one that asked (openclaw/openclaw#93255)",
    scenario="chats-that-count-alike",
    killed_by="session_isolation.tool",
)


def agent(brief: Brief) -> None:
    """The reference agent whose tools know one chat."""
    fixed = [replace(tool, call=partial(tool.call, session="main")) for tool in brief.tools]
    build(brief, tools=Toolbox(fixed)).run()
