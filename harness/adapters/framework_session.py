"""Agents of agent-framework: their instructions, options, middleware and other providers stay.

The tools of the scenario stand in place of the agent's own. The client is of the agent's class, and
has one of the brief. The sessions are kept in memory, or by what the user's own functions make in
the run's folder: a SessionStore, a HistoryProvider or both. Then a run may begin with a past and be
killed. A cancel is seen before each call of the model, and before each tool.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from harness.adapters.shared.framework_agent import (
    NOT_RUN,
    SESSION,
    FrameworkAgent,
    TurnCancelled,
    adapted,
    answer_of,
    converse,
    may_run,
    seed_of,
    sorry_for,
    wire_of_class,
    with_pictures,
)
from harness.adapters.shared.sub_agents import Task
from harness.core.values.brief import ToolError
from harness.core.values.messages import Block, Message, Opaque, Text, ToolResult, ToolUse

_CALL: ContextVar[str] = ContextVar("call", default="")

_CLIENTS = {
    "openai-chat": "OpenAIChatCompletionClient",
    "openai-responses": "OpenAIChatClient",
}


def agent_framework(
    agent: Any,
    sessions: Callable[[Path], Any] | None = None,
    history: Callable[[Path], Any] | None = None,
    helper: Any = None,
    **settings: Any,
) -> FrameworkAgent:
    """An agent of agent-framework; `settings` go to each `agent.run`, as in `options=...`.

    `sessions` makes the SessionStore of a folder, as in `lambda folder: FileSessionStore(folder)`,
    and `history` a HistoryProvider. Without the first an open question does not outlive a kill.
    `helper` is an agent that the tool `task` runs.
    """
    wire = _wire_of(getattr(agent, "client", None))
    persists = bool(sessions or history)

    async def play(brief: Any) -> None:
        from agent_framework import InMemoryHistoryProvider
        from agent_framework.exceptions import AgentFrameworkException

        folder = Path(brief.session_dir)
        kept = history(folder) if history else InMemoryHistoryProvider()
        store = sessions(folder) if sessions else None

        def alone(child: Any) -> Any:
            own = InMemoryHistoryProvider()
            return Chat(child, _agent_of(child, helper, own), (own, None), [], {}).answer

        sorry = sorry_for(AgentFrameworkException)
        bot = _agent_of(brief, agent, kept, [Task(brief, alone, sorry)] if helper else [])
        past = seed_of(brief) if persists else []
        chat = Chat(brief, bot, (kept, store), past, settings)
        await converse(brief, chat.answer, sorry)

    helps = bool(helper)
    return adapted("agent_framework", play, persists, wire, cancels=True, helps=helps)


class Chat:
    """The sessions of a run by their names.

    `kept` is the provider of their histories, and the store of the sessions or None.
    """

    def __init__(
        self,
        brief: Any,
        bot: Any,
        kept: tuple[Any, Any],
        past: list[Message],
        settings: dict[str, Any],
    ) -> None:
        from agent_framework import chat_middleware

        self._brief, self._bot, self._past = brief, bot, past
        self._history, self._store = kept
        self._sessions: dict[str, Any] = {}

        async def until_cancelled(_: Any, call_next: Any) -> None:
            if brief.cancelled(SESSION.get()):
                raise TurnCancelled
            await call_next()

        own = settings.get("middleware") or []
        self._settings = {**settings, "middleware": [*own, chat_middleware(until_cancelled)]}

    async def answer(self, message: Any) -> str | None:
        """The words for a message; None for a turn that the user has cancelled."""
        from agent_framework import Message as Row

        rows = await self._began(message.session)
        # A question stays open over a kill, where the message is stored, and over a cancel.
        words = [] if _holds(rows, message.id) and _open(rows) else [message.text]
        asked, result = _open(rows), None
        try:
            while asked or result is None:
                said = [await self._asked(request) for request in asked]
                result = await self._run(Row("user", [*said, *words], message_id=message.id))
                asked, words = result.user_input_requests, []
        except TurnCancelled:
            return None
        return str(result.text)

    async def _began(self, name: str) -> list[Any]:
        """The rows of a session, which begins with the past of the scenario."""
        from agent_framework import AgentSession

        if name not in self._sessions:
            stored = await self._store.get(name) if self._store else None
            self._sessions[name] = stored or AgentSession(session_id=name)
        state = self._sessions[name].state.setdefault(self._history.source_id, {})
        rows = await self._history.get_messages(name, state=state)
        if not rows and name == "main" and self._past:
            rows = [row for message in self._past for row in _rows(message)]
            await self._history.save_messages(name, rows, state=state)
        return list(rows)

    async def _run(self, given: Any) -> Any:
        session = self._sessions[SESSION.get()]
        named = {**self._settings, "session": session}
        if self._brief.options.get("stream"):
            stream = self._bot.run(given, stream=True, **named)
            async for _ in stream:
                pass
            result = await stream.get_final_response()
        else:
            result = await self._bot.run(given, **named)
        if self._store:
            await self._store.set(SESSION.get(), session)
        return result

    async def _asked(self, request: Any) -> Any:
        """What the user says to a request, as the framework takes it: a yes or a no."""
        call = request.function_call
        shown = call.parse_arguments()
        where = {"id": call.call_id, "session": SESSION.get()}
        is_meant = await may_run(self._brief, call.name, shown, **where)
        return request.to_function_approval_response(is_meant)


def _holds(rows: list[Any], message_id: str) -> bool:
    """Whether a message of the user is one of the rows."""
    return any(row.message_id == message_id for row in rows)


def _open(rows: list[Any]) -> list[Any]:
    """The requests in the last row of a session: a killed run has not answered them."""
    return [each for each in rows[-1].contents if each.user_input_request] if rows else []


def _rows(message: Message) -> Iterator[Any]:
    """A message as messages of agent-framework: results are of the role tool. Thoughts are left
    out: their signatures are of the model that made them."""
    from agent_framework import Content
    from agent_framework import Message as Row

    results = [block for block in message.blocks if isinstance(block, ToolResult)]
    others = [block for block in message.blocks if not isinstance(block, ToolResult)]
    for result in results:
        failure = {"exception": result.text} if result.is_error else {}
        made = Content.from_function_result(result.id, result=result.text, **failure)
        yield Row("tool", [made])
    if said := [part for block in others for part in _part(block, Content)]:
        yield Row("user" if message.role == "user" else "assistant", said)


def _part(block: Block, kinds: Any) -> Iterator[Any]:
    match block:
        case Text(text):
            yield kinds.from_text(text)
        case ToolUse(id, name, input):
            arguments = input if isinstance(input, dict | str) else json.dumps(input)
            yield kinds.from_function_call(id, name, arguments=arguments)
        case Opaque("image", {"source": {"type": "base64", "media_type": kind, "data": data}}):
            yield kinds.from_data(base64.b64decode(data), kind)
        case Opaque(kind):
            raise TypeError(f"the past holds a block of the kind {kind}, which no message takes")


def _wire_of(client: Any) -> str:
    """The wire of an agent's own client; "" for one of another provider."""
    return wire_of_class(client, _CLIENTS)


def _agent_of(brief: Any, own: Any, history: Any, more: Sequence[Any] = ()) -> Any:
    """A copy of the agent with the tools of the scenario and `more`, a client of the brief and the
    history."""
    from agent_framework import HistoryProvider

    made = copy.copy(own)
    made.client = _client(brief, own.client)
    made.mcp_tools = []
    tools = [_tool(brief, tool) for tool in (*brief.tools, *more)]
    made.default_options = {**own.default_options, "tools": tools}
    others = [each for each in own.context_providers if not isinstance(each, HistoryProvider)]
    made.context_providers = [*others, history]
    return made


def _client(brief: Any, own: Any) -> Any:
    import agent_framework.openai as clients

    if _wire_of(own) == brief.wire:
        made = copy.copy(own)
        made.client = brief.async_openai()
        return made
    kind = getattr(clients, _CLIENTS[brief.wire])
    return kind(model=getattr(own, "model", None) or "gpt-5", async_client=brief.async_openai())


def _tool(brief: Any, tool: Any) -> Any:
    from agent_framework import Content, FunctionTool

    class Offered(FunctionTool):  # type: ignore[misc]
        """The framework tells a tool the id of its call when it invokes it."""

        async def invoke(self, *, tool_call_id: str | None = None, **given: Any) -> Any:
            _CALL.set(tool_call_id or "")
            return await super().invoke(tool_call_id=tool_call_id, **given)

    async def run(**given: Any) -> Any:
        if brief.cancelled(SESSION.get()):
            raise ToolError(NOT_RUN)
        if isinstance(tool, Task):
            return await tool.answer(given, _CALL.get())
        answer = answer_of(tool, given, _CALL.get())
        return with_pictures(answer, Content.from_data, Content.from_text)

    mode = "always_require" if tool.needs_approval else "never_require"
    return Offered(
        name=tool.name,
        description=tool.description,
        approval_mode=mode,
        func=run,
        input_model=tool.input_schema,
    )
