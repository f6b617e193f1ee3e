"""Tools over MCP in one process: the official client on the official server, in virtual time."""

from __future__ import annotations

from typing import Any

from harness.core.transition.tool_seam import meant_call
from harness.core.values.calls import ToolRequest
from harness.core.values.errors import RunStopped
from harness.core.values.messages import Json
from harness.core.values.plans import ToolAnswer, Wait
from harness.transports.door import Door
from harness.transports.in_process import outcome
from harness.transports.mcp_server import tool_server


def in_process_server(door: Door) -> Any:
    """The scenario's tools as an `mcp.server.Server`, whose calls cross the tool seam.

    A tool that raises, times out or loses its connection is an error result, with its own text.
    """

    async def call(name: str, input: Json, stated: str) -> ToolAnswer:
        id_ = stated or meant_call(door.transition.history, "", name, input)
        plan = door.tool(ToolRequest(id_, name, input))
        for step in plan:
            if isinstance(step, Wait):
                await door.clock.asleep(step.ms / 1000)
        quick = tuple(step for step in plan if not isinstance(step, Wait))
        try:
            answer = outcome(door, quick, f"the tool {name}")
        except RunStopped:
            raise
        except (RuntimeError, OSError) as error:
            return ToolAnswer(str(error), is_error=True)
        assert isinstance(answer, ToolAnswer), answer
        return answer

    return tool_server(door.transition.scenario.tools, call)
