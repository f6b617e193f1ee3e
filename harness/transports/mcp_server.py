"""The scenario's tools as an MCP server, made with the official `mcp` package.

What a tool answers is a result, also where it failed: MCP keeps protocol errors for calls that
never reached a tool. Which call of the model a tool call belongs to is not said by MCP; a client
that knows may say so in `_meta` (`toolUseId`), else the door finds the call that is meant.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from harness.core.scenario.scenario import ToolScript
from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.core.values.plans import ToolAnswer

Call = Callable[[str, Json, str], Awaitable[ToolAnswer]]
"""`(tool, input, id or "") -> answer`."""

_ID_NAMES = ("toolUseId", "claudecode/toolUseId")


def tool_server(tools: Mapping[str, ToolScript], call: Call) -> Any:
    """An `mcp.server.Server` that offers the tools and answers calls of them by `call`.

    Raises InputError without the package mcp.
    """
    server = _mcp()
    import mcp_types as types

    async def listed(_context: Any, _params: Any) -> Any:
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
        what = "tools over MCP need the package mcp: pip install 'loop-harness[mcp]'"
        raise InputError(what, "HARNESS_MCP_URL") from None


def _stated_id(params: Any) -> str:
    meta = dict(params.meta or {})
    return next((str(meta[name]) for name in _ID_NAMES if meta.get(name)), "")


def content(answer: ToolAnswer) -> list[dict[str, Json]]:
    """A tool's answer as MCP content: text and images as they are, anything else as JSON text."""
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
    return {"type": "text", "text": msgspec.json.encode(block).decode()}
