"""The Claude Agent SDK: the options of an agent stay, a message is a turn of the Claude Code that
the SDK starts.

The tools of the scenario are a server of MCP in this process, in place of Claude Code's own. The
model is met at its URL, so the target plays in real time (`--world supervise`). A session is the
SDK's own file, in the run's folder: a run may begin with a past and be killed. A call that needs
the user's approval comes to the SDK's `can_use_tool`, and a cancel is its interrupt. The SDK tells
a tool no id of its call.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from harness.adapters.shared.framework_agent import (
    NOT_RUN,
    PERSISTENT,
    FrameworkAgent,
    answer_of,
    converse,
    refusal_of,
    said_to,
    seed_of,
    sorry_for,
)
from harness.core.values.brief import ToolError
from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolResult, ToolUse

_SERVER = "harness"
_QUIET = {
    "ANTHROPIC_API_KEY": "sk-harness-dummy",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "MCP_CONNECTION_NONBLOCKING": "0",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
}
_CANCEL_S = 0.05
_HAS = msgspec.structs.replace(PERSISTENT, cancel=None, own_store=None, compaction=None)


class TurnFailed(Exception):
    """What Claude Code says of a turn that failed: the SDK raises nothing."""


def claude_agent(options: Any) -> FrameworkAgent:
    """The agent of a ClaudeAgentOptions."""

    async def play(brief: Any) -> None:
        from claude_agent_sdk import ClaudeSDKError

        async with AsyncExitStack() as open_:
            chat = Chat(brief, options, open_)
            await converse(brief, chat.answer, sorry_for(ClaudeSDKError, TurnFailed))

    return FrameworkAgent("claude_agent", play, capabilities=_HAS)


class Chat:
    """The sessions of a run, a Claude Code each: it stays open between the messages."""

    def __init__(self, brief: Any, options: Any, open_: AsyncExitStack) -> None:
        self._brief, self._options, self._open = brief, options, open_
        self._home = Path(brief.session_dir).resolve()
        self._clients: dict[str, Any] = {}

    async def answer(self, message: Any) -> str | None:
        """The words for a message; None for a turn that the user has cancelled."""
        from claude_agent_sdk import ResultMessage

        client = self._clients.get(message.session) or await self._began(message.session)
        await client.query(message.text)
        watching = asyncio.ensure_future(self._watch(client, message.session))
        try:
            said = [each async for each in client.receive_response()]
        finally:
            watching.cancel()
        if self._brief.cancelled(message.session):
            return None
        end = next((each for each in said if isinstance(each, ResultMessage)), None)
        if end is None or end.is_error:
            raise TurnFailed(str(end and (end.result or end.errors or end.subtype)))
        return end.result or ""

    async def _watch(self, client: Any, session: str) -> None:
        while not self._brief.cancelled(session):
            await asyncio.sleep(_CANCEL_S)
        await client.interrupt()

    async def _began(self, session: str) -> Any:
        """A Claude Code on a session, which goes on where its file is there."""
        from claude_agent_sdk import ClaudeSDKClient

        id = str(uuid.uuid5(uuid.NAMESPACE_URL, session))
        file = self._home / "claude" / "projects" / _folder_name(self._home) / f"{id}.jsonl"
        past = seed_of(self._brief) if session == "main" else []
        if past and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"".join(_lines(past, id, str(self._home))))
        known = {"resume": id} if file.exists() else {"session_id": id}
        client = ClaudeSDKClient(replace(self._settings(session), **known))
        self._clients[session] = await self._open.enter_async_context(client)
        return client

    def _settings(self, session: str) -> Any:
        from claude_agent_sdk import create_sdk_mcp_server

        tools = self._brief.tools
        server = create_sdk_mcp_server(_SERVER, tools=[self._tool(t, session) for t in tools])
        url = self._brief.base_url
        where = {"ANTHROPIC_BASE_URL": url, "CLAUDE_CONFIG_DIR": str(self._home / "claude")}
        return replace(
            self._options,
            model=self._options.model or "claude-sonnet-5",
            tools=[],
            mcp_servers={_SERVER: server},
            strict_mcp_config=True,
            allowed_tools=[_named(tool.name) for tool in tools if not tool.needs_approval],
            can_use_tool=self._asks(session),
            setting_sources=[],
            cwd=self._home,
            env={**_QUIET, **self._options.env, **where},
        )

    def _tool(self, tool: Any, session: str) -> Any:
        from claude_agent_sdk import SdkMcpTool

        async def run(given: dict[str, Any]) -> dict[str, Any]:
            if self._brief.cancelled(session):
                return _result(NOT_RUN, True)
            try:
                return _result(await asyncio.to_thread(answer_of, tool, given), False)
            except ToolError as error:
                return _result(str(error), True)

        return SdkMcpTool(tool.name, tool.description or tool.name, tool.input_schema, run)

    def _asks(self, session: str) -> Callable[..., Any]:
        from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny

        async def asks(name: str, given: dict[str, Any], context: Any) -> Any:
            tool = name.removeprefix(_named(""))
            where = {"id": context.tool_use_id or "", "session": session}
            said = await said_to(self._brief, tool, given, **where)
            if said.answer == "allow":
                return PermissionResultAllow(updated_input=said.input)
            return PermissionResultDeny(message=refusal_of(said))

        return asks


def _named(tool: str) -> str:
    return f"mcp__{_SERVER}__{tool}"


def _result(said: Any, is_error: bool) -> dict[str, Any]:
    content = said if isinstance(said, list) else [{"type": "text", "text": _words(said)}]
    return {"content": content, "is_error": is_error}


def _words(said: Any) -> str:
    return said if isinstance(said, str) else msgspec.json.encode(said).decode()


def _folder_name(home: Path) -> str:
    """The name that Claude Code gives to the folder of a project's sessions."""
    return re.sub(r"[^a-zA-Z0-9]", "-", str(home))


def _lines(past: list[Message], id: str, home: str) -> Iterator[bytes]:
    """The past as lines of a session file. Thoughts are left out: their signatures are of the
    model that made them."""
    parent = None
    for message in past:
        if not (blocks := [part for block in message.blocks for part in _block(block)]):
            continue
        said: dict[str, Json] = {"role": message.role, "content": blocks}
        if message.role == "assistant":
            said |= {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "model": "claude-sonnet-5"}
        own = str(uuid.uuid4())
        line = {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": home,
            "sessionId": id, "type": message.role, "message": said, "uuid": own,
            "timestamp": datetime.now(UTC).isoformat(),
        }  # fmt: skip
        parent = own
        yield msgspec.json.encode(line) + b"\n"


def _block(block: Block) -> Iterator[Json]:
    match block:
        case Text(text):
            yield {"type": "text", "text": text}
        case ToolUse(id, name, input):
            yield {"type": "tool_use", "id": id, "name": _named(name), "input": input}
        case ToolResult(id):
            content: list[Json] = [{"type": "text", "text": block.text}]
            failed = {"is_error": block.is_error}
            yield {"type": "tool_result", "tool_use_id": id, "content": content, **failed}
        case Opaque("image"):
            yield block.value
        case Opaque(kind):
            raise TypeError(f"the past holds a block of the kind {kind}, which no session takes")
