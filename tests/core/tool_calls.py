"""A call of a scripted tool, for tests of the core."""

from __future__ import annotations

from harness.core.transition.transition import Transition
from harness.core.values.calls import ToolRequest
from harness.core.values.plans import Plan


def tool(run: Transition, name: str = "t", n: int = 1, at_ms: int = 0) -> Plan:
    """Call a tool, with the nth id."""
    return run.tool(ToolRequest(f"toolu_{n}", name, {}), at_ms)
