"""The scenario's tools as an MCP server, made with the official `mcp` package.

A failed tool is a result: protocol errors are for calls that reach no tool. MCP does not name the
model's call: `_meta.toolUseId` may, else the history is searched. Over loopback our own server
carries the official server's answer, so faults apply to MCP too.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from harness.clock.turns import turn_of_task
from harness.core.scenario.scenario import ToolScript
from harness.core.values.calls import ToolRequest
from harness.core.values.errors import PackageMissing, RunStopped
from harness.core.values.messages import Json, mapped_texts
from harness.core.values.plans import Answer, Head, Plan, Raise, Send, Step, ToolAnswer
from harness.transports.dispatcher import Dispatcher, json_answer
from harness.transports.http_connection import Request
from harness.transports.http_exchange import CONNECTION_ERRORS
from harness.transports.python_calls import after_waits, outcome

Call = Callable[[str, Json, str], Awaitable[ToolAnswer]]
"""`(tool, input, id or "") -> answer`."""

_ID_NAMES = ("toolUseId", "claudecode/toolUseId")


def tool_server(
    tools: Mapping[str, ToolScript], call: Call, take_list: Callable[[], None] = lambda: None
) -> Any:
    """An `mcp.server.Server` that offers the tools and answers calls of them by `call`.

    `take_list` is called when a client lists the tools. Raises InputError without the package mcp.
    """
    server = _mcp()
    import mcp_types as types

    async def listed(_context: Any, _params: Any) -> Any:
        take_list()
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=tool.description, input_schema=tool.input_schema)
                for name, tool in tools.items()
            ]
        )

    async def called(_context: Any, params: Any) -> Any:
        answer = await call(params.name, params.arguments or {}, _stated_id(params))
        return types.CallToolResult(content=list[Any](content(answer)), is_error=answer.is_error)

    return server.Server("loop-harness", on_list_tools=listed, on_call_tool=called)


def _mcp() -> Any:
    try:
        return importlib.import_module("mcp.server")
    except ImportError:
        raise PackageMissing("mcp", "mcp", "a server of tools", "HARNESS_MCP_URL") from None


def _stated_id(params: Any) -> str:
    meta = dict(params.meta or {})
    return next((str(meta[name]) for name in _ID_NAMES if meta.get(name)), "")


def content(answer: ToolAnswer) -> list[dict[str, Json]]:
    """A tool's answer as MCP content: text, images, and MCP's audio and resources as they are.

    Anything else is JSON text.
    """
    blocks = answer.content if isinstance(answer.content, list) else [answer.content]
    return [_block(block) for block in blocks]


def _block(block: Json) -> dict[str, Json]:
    match block:
        case str():
            return {"type": "text", "text": block}
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}:
            return {"type": "image", "data": data, "mimeType": kind}
        case {"type": "audio", "data": str(), "mimeType": str()}:
            return dict(block)
        case {"type": "resource", "resource": {"uri": str(), "text": str()}}:
            return dict(block)
    return {"type": "text", "text": msgspec.json.encode(block).decode()}


_SURROGATES = range(0xD800, 0xE000)
_SHIFT = 0x10F800 - _SURROGATES.start
_HELD = {each: each + _SHIFT for each in _SURROGATES}
_PRIVATE = re.compile("[\U0010f800-\U0010ffff]")

_ANSWER_HEADERS = frozenset({"content-type", "mcp-session-id", "allow"})
_ONLY_POST = {"error": "loop-harness: this MCP server answers POST and keeps no streams open"}


class McpEndpoint:
    """`/harness/mcp` of one run."""

    def __init__(self, dispatcher: Dispatcher, take_list: Callable[[str], None]) -> None:
        """`take_list` gets the session of a client that lists the tools."""
        self._dispatcher, self._take_list = dispatcher, take_list

    def plan(self, request: Request, session: str) -> Plan:
        """The plan for a request: the steps of a tool's plan, its answer in the words of MCP."""
        if request.method != "POST":
            return json_answer(405, _ONLY_POST, allow="POST")
        self._dispatcher.transition.tools_taken = True
        plans: list[Plan] = []

        async def call(name: str, input: Json, stated: str) -> ToolAnswer:
            plans.append(self._dispatcher.tool(ToolRequest(stated, name, input), session))
            answer = tool_answer(plans[-1])
            # The server cannot write lone surrogates, so private characters stand for them.
            held = mapped_texts(answer.content, lambda text: text.translate(_HELD))
            return msgspec.structs.replace(answer, content=held)

        tools = self._dispatcher.transition.scenario.tools
        server = tool_server(tools, call, lambda: self._take_list(session))
        answer = asyncio.run(_exchange(server, request))
        if not plans:
            return (answer,)
        # The written answer stands where the plan answers, or raises as a tool does.
        return tuple(answer if _answers(step) else step for step in plans[-1])


def tool_answer(plan: Plan) -> ToolAnswer:
    """What a tool's plan says; a tool that raises says so, one that never answers says nothing."""
    for step in plan:
        if isinstance(step, Answer) and isinstance(step.value, ToolAnswer):
            return step.value
        if isinstance(step, Raise):
            return ToolAnswer(step.message or step.error, is_error=True)
    return ToolAnswer("", is_error=True)


def _answers(step: Step) -> bool:
    ends = isinstance(step, Raise) and step.error not in CONNECTION_ERRORS
    return isinstance(step, Answer) or ends


async def _exchange(server: Any, request: Request) -> Send:
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
    return Send(
        _released(body),
        Head(start["status"], {n: v for n, v in named.items() if n in _ANSWER_HEADERS}),
    )


def _released(body: bytes) -> bytes:
    """JSON text with the escapes of lone surrogates where private characters stand for them."""
    return _PRIVATE.sub(lambda c: f"\\u{ord(c[0]) - _SHIFT:04x}", body.decode()).encode()


def _scope(request: Request) -> dict[str, Any]:
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


def in_process_server(dispatcher: Dispatcher) -> Any:
    """The scenario's tools as an `mcp.server.Server`, whose calls cross the tool seam.

    A tool that raises, times out or loses its connection is an error result, with its own text.
    """

    async def call(name: str, input: Json, stated: str) -> ToolAnswer:
        in_turn = await turn_of_task(dispatcher.clock, "tool", what=name)
        asked = dispatcher.tool(ToolRequest(stated, name, input), in_turn=in_turn)
        plan = await after_waits(dispatcher, asked, name)
        try:
            answer = outcome(dispatcher, plan, f"the tool {name}")
        except RunStopped:
            raise
        except (RuntimeError, OSError) as error:
            return ToolAnswer(str(error), is_error=True)
        assert isinstance(answer, ToolAnswer), answer
        return answer

    return tool_server(dispatcher.transition.scenario.tools, call)
