"""Tools over MCP in one process: the official client on the official server, in virtual time."""

from __future__ import annotations

from typing import Any

from harness.core.calls import ToolRequest
from harness.core.errors import RunStopped
from harness.core.messages import Json
from harness.core.plans import ToolAnswer, Wait
from harness.core.tool_ids import meant_call
from harness.doors.door import Door
from harness.doors.in_process import outcome
from harness.doors.mcp_server import tool_server


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
