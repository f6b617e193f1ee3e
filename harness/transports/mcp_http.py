"""Tools over MCP on the loopback server: streamable HTTP, one exchange a request.

The official server reads the request and words the answer, as an application without sessions and
streams; our own server carries the bytes. So a fault on a tool reaches an MCP client as it reaches
any other: the answer is late, cut, reset, or never comes.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from harness.core.transition.tool_seam import meant_call
from harness.core.values.calls import ToolRequest
from harness.core.values.messages import Json
from harness.core.values.plans import Answer, Head, Plan, Raise, Send, Step, ToolAnswer
from harness.transports.door import Door, json_answer
from harness.transports.exchange import CONNECTION_ERRORS
from harness.transports.http import Request
from harness.transports.mcp_server import tool_server

_KEPT = frozenset({"content-type", "mcp-session-id", "allow"})
_ONLY_POST = {"error": "loop-harness: this MCP server answers POST and keeps no streams open"}


class McpEndpoint:
    """`/harness/mcp` of one run."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def plan(self, request: Request, session: str) -> Plan:
        """The plan for a request: the steps of a tool's plan, its answer in the words of MCP."""
        if request.method != "POST":
            return json_answer(405, _ONLY_POST, allow="POST")
        plans: list[Plan] = []

        async def call(name: str, input: Json, stated: str) -> ToolAnswer:
            history = self._door.transition.history
            id_ = stated or meant_call(history, session, name, input)
            plans.append(self._door.tool(ToolRequest(id_, name, input), session))
            return said(plans[-1])

        server = tool_server(self._door.transition.scenario.tools, call)
        answer = asyncio.run(_exchange(server, request))
        return _in_place(plans[-1], answer) if plans else (answer,)


def said(plan: Plan) -> ToolAnswer:
    """What a tool's plan says; a tool that raises says so, one that never answers says nothing."""
    for step in plan:
        if isinstance(step, Answer) and isinstance(step.value, ToolAnswer):
            return step.value
        if isinstance(step, Raise):
            return ToolAnswer(step.message or step.error, is_error=True)
    return ToolAnswer("", is_error=True)


def _in_place(plan: Plan, answer: Send) -> Plan:
    """The plan with the written answer where it answers, or raises as a tool does."""
    return tuple(answer if _answers(step) else step for step in plan)


def _answers(step: Step) -> bool:
    ends = isinstance(step, Raise) and step.error not in CONNECTION_ERRORS
    return isinstance(step, Answer) or ends


async def _exchange(server: Any, request: Request) -> Send:
    """The official application's answer to a request."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    logging.getLogger("mcp").setLevel(logging.ERROR)
    manager = StreamableHTTPSessionManager(app=server, json_response=True, stateless=True)
    messages = iter([{"type": "http.request", "body": request.body, "more_body": False}])
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        sent.append(message)

    async with manager.run():
        await manager.handle_request(_scope(request), receive, send)
    start = next(message for message in sent if message["type"] == "http.response.start")
    body = b"".join(m.get("body", b"") for m in sent if m["type"] == "http.response.body")
    named = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
    return Send(body, Head(start["status"], {n: v for n, v in named.items() if n in _KEPT}))


def _scope(request: Request) -> dict[str, Any]:
    """The request as an ASGI server would hand it over."""
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(n.encode(), v.encode("latin-1")) for n, v in request.headers.items()],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 0),
    }
