"""Agents of strands-agents: an Agent is a session, so each session of a run has its own.

A user's function makes it of the tools and a session manager, and all else of it stays. Of an Agent
alone its instructions and settings are copied, and not its hooks and plugins. A session
manager keeps a session in the run's folder: then a run may begin with a past and be killed. A
cancel is the Agent's own; a question is an interrupt, whose answer may have a reason.
"""

from __future__ import annotations

import base64
import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from harness.adapters.shared.framework_agent import (
    NOT_RUN,
    FrameworkAgent,
    adapted,
    answer_of,
    api_error,
    converse,
    refusal_of,
    said_to,
    seed_of,
    sorry_for,
    wire_of_class,
    with_pictures,
)
from harness.adapters.shared.sub_agents import Task
from harness.core.values.brief import ToolError
from harness.core.values.calls import Approval
from harness.core.values.messages import Block, Message, Opaque, Text, ToolResult, ToolUse

_CLASSES = {"anthropic": "AnthropicModel", "openai-chat": "OpenAIModel"}


class TurnUnfinished(Exception):
    """The agent ended without an answer, for a reason that its result names."""


def strands(
    agent: Any,
    sessions: Callable[[str, Path], Any] | None = None,
    helper: Any = None,
    **settings: Any,
) -> FrameworkAgent:
    """An Agent of strands-agents, or a function of a list of tools and a session manager or None
    that makes one; `settings` go to each call of it, as in `limits={"turns": 9}`.

    `sessions` makes the session manager of a name in a folder, as in
    `lambda name, folder: FileSessionManager(name, storage_dir=str(folder))`. `helper` is an Agent,
    or what makes one, that the tool `task` runs.
    """
    wire = "" if inspect.isroutine(agent) else _wire_of(agent.model)

    async def play(brief: Any) -> None:
        from strands.types import exceptions as kinds

        def alone(child: Any) -> Any:
            return Chat(child, _maker(helper), None, {}).answer

        raised = (
            TurnUnfinished,
            kinds.EventLoopException,
            kinds.MaxTokensReachedException,
            kinds.ContextWindowOverflowException,
            kinds.ModelThrottledException,
        )
        sorry = sorry_for(*raised, api_error(brief.wire))
        more = [Task(brief, alone, sorry)] if helper else []
        chat = Chat(brief, _maker(agent), sessions, settings, more)
        await converse(brief, chat.answer, sorry)

    return adapted("strands", play, sessions, wire, cancels=True, helps=bool(helper))


class Chat:
    """The sessions of a run, an Agent each."""

    def __init__(
        self,
        brief: Any,
        make: Callable[[list[Any], Any], Any],
        sessions: Callable[[str, Path], Any] | None,
        settings: dict[str, Any],
        more: Sequence[Any] = (),
    ) -> None:
        self._tools = [_tool(tool) for tool in (*brief.tools, *more)]
        self._brief, self._make, self._sessions = brief, make, sessions
        self._settings = settings
        self._bots: dict[str, Any] = {}
        self._unasked: dict[str, bool] = {}

    async def answer(self, message: Any) -> str | None:
        """The words for a message; None for a turn that the user has cancelled."""
        bot = self._bots.get(message.session) or await self._began(message.session)
        result = None
        if asked := _open(bot):  # of a killed run, or of a turn that the user has cancelled
            given = await self._asked(asked, message.session)
            result = await self._run(bot, given, message.session)
        if result is None or not _holds(bot, message.id):
            result = await self._run(bot, [_row(message)], message.session)
        if result.stop_reason == "cancelled" or self._unasked.get(message.session):
            return None
        if result.stop_reason not in ("end_turn", "stop_sequence"):
            raise TurnUnfinished(f"{result} ({result.stop_reason})")
        return str(result)

    async def _began(self, name: str) -> Any:
        """The Agent of a session, which begins with the past of the scenario."""
        from strands.hooks import (
            AfterToolCallEvent,
            BeforeModelCallEvent,
            BeforeToolCallEvent,
            MessageAddedEvent,
        )

        bot = self._made(name)
        if self._sessions and name == "main" and not bot.messages:
            for row in (row for message in seed_of(self._brief) for row in _rows(message)):
                bot.messages.append(row)
                await bot.hooks.invoke_callbacks_async(MessageAddedEvent(agent=bot, message=row))
            bot = self._made(name)  # it loads the past, as after any restart
        gated = {tool.name for tool in self._brief.tools if tool.needs_approval}

        def before(event: Any) -> None:
            if self._stops(bot, name):
                event.cancel_tool = NOT_RUN
            elif event.tool_use["name"] in gated:
                _ask(event)

        def after(_: Any) -> None:
            self._stops(bot, name)

        def asks(event: Any) -> None:
            # It then ends as an answer does (`end_turn`), with words of the framework's own.
            event.cancel = self._stops(bot, name)
            self._unasked[name] = event.cancel

        bot.add_hook(asks, BeforeModelCallEvent)
        bot.add_hook(before, BeforeToolCallEvent)
        bot.add_hook(after, AfterToolCallEvent)
        self._bots[name] = bot
        return bot

    def _made(self, name: str) -> Any:
        kept = self._sessions(name, Path(self._brief.session_dir)) if self._sessions else None
        bot = self._make(self._tools, kept)
        bot.model = _model(self._brief, bot.model)
        return bot

    def _stops(self, bot: Any, session: str) -> bool:
        """Whether the user has cancelled the turn; the Agent is told to ask its model no more.

        The calls of an answer still get their results. A cancel at once, while a question is open,
        gives a call two of them.
        """
        is_cancelled = bool(self._brief.cancelled(session))
        if is_cancelled:
            bot.cancel(after_current_tools=True)
        return is_cancelled

    async def _run(self, bot: Any, given: list[Any], session: str) -> Any:
        """Call the Agent, and again with the answers to each question that it ends with."""
        while given:
            async for event in bot.stream_async(given, **self._settings):
                if self._stops(bot, session) and "event" in event:  # the model is still answering
                    bot.cancel()
                result = event.get("result")
            is_open = result.stop_reason == "interrupt"
            given = await self._asked(result.interrupts, session) if is_open else []
        return result

    async def _asked(self, interrupts: Any, session: str) -> list[Any]:
        """What the user says to each question, as the framework takes it."""
        answers = []
        for asked in interrupts:
            call, response = asked.reason, asked.response
            if response is None:
                where = {"id": call["toolUseId"], "session": session}
                said = await said_to(self._brief, call["name"], call["input"], **where)
                response = msgspec.to_builtins(said)
            answer = {"interruptId": asked.id, "response": response}
            answers.append({"interruptResponse": answer})
        return answers


def _open(bot: Any) -> list[Any]:
    """The questions that a session ended with: all of them, as it wants the answers at once."""
    state = bot._interrupt_state
    return [*state.interrupts.values()] if state.activated else []


def _holds(bot: Any, id: str) -> bool:
    """Whether a message of the user is in the session."""
    told = (row.get("metadata", {}).get("custom", {}) for row in bot.messages)
    return any(each.get("message") == id for each in told)


def _ask(event: Any) -> None:
    """Ask about a call as the framework's hooks do: without an answer this ends the run."""
    call = dict(event.tool_use)
    said = msgspec.convert(event.interrupt("approval", reason=call), type=Approval)
    if said.answer != "allow":
        event.cancel_tool = refusal_of(said)
    elif said.input != call["input"]:
        event.tool_use = {**call, "input": said.input}


def _row(message: Any) -> dict[str, Any]:
    """A message of the user with its id, which the framework keeps and sends to no model."""
    told = {"custom": {"message": message.id}}
    return {"role": "user", "content": [{"text": message.text}], "metadata": told}


def _rows(message: Message) -> Iterator[dict[str, Any]]:
    """A message as strands has it. Thoughts are left out: their signatures are of the model that
    made them."""
    if content := [part for block in message.blocks for part in _part(block)]:
        yield {"role": "user" if message.role == "tool" else message.role, "content": content}


def _part(block: Block) -> Iterator[dict[str, Any]]:
    match block:
        case Text(text):
            yield {"text": text}
        case ToolUse(id, name, input):
            yield {"toolUse": {"toolUseId": id, "name": name, "input": input}}
        case ToolResult(id):
            yield {"toolResult": _result(id, block.text, is_error=block.is_error)}
        case Opaque("image", {"source": {"type": "base64", "media_type": kind, "data": data}}):
            yield _picture(base64.b64decode(str(data)), str(kind))
        case Opaque(kind):
            raise TypeError(f"the past holds a block of the kind {kind}, which no message takes")


def _picture(data: bytes, kind: str) -> dict[str, Any]:
    return {"image": {"format": kind.removeprefix("image/"), "source": {"bytes": data}}}


def _result(id: str, said: Any, *, is_error: bool) -> dict[str, Any]:
    content = said if isinstance(said, list) else [{"text": said}]
    return {"toolUseId": id, "status": "error" if is_error else "success", "content": content}


def _wire_of(model: Any) -> str:
    """The wire of an agent's own model; "" for one of another provider."""
    return wire_of_class(model, _CLASSES)


def _maker(agent: Any) -> Callable[[list[Any], Any], Any]:
    made: Callable[[list[Any], Any], Any] = agent if inspect.isroutine(agent) else _like(agent)
    return made


def _like(own: Any) -> Callable[[list[Any], Any], Any]:
    """What makes Agents with the instructions and settings of one."""

    def make(tools: list[Any], kept: Any) -> Any:
        return type(own)(
            model=own.model,
            tools=tools,
            system_prompt=own.system_prompt,
            conversation_manager=copy.deepcopy(own.conversation_manager),
            callback_handler=None,
            state=copy.deepcopy(own.state),
            name=own.name,
            agent_id=own.agent_id,
            tool_executor=own.tool_executor,
            session_manager=kept,
        )

    return make


def _model(brief: Any, own: Any) -> Any:
    """A model of the wire with a client of the brief: a copy of the agent's own, if it is one."""
    is_own = _wire_of(own) == brief.wire
    if brief.wire == "openai-chat":
        kind = import_module("strands.models.openai").OpenAIModel
        config = own.get_config() if is_own else {"model_id": "gpt-5"}
        return (type(own) if is_own else kind)(client=brief.async_openai(), **config)
    kind = import_module("strands.models.anthropic").AnthropicModel
    config = {"model_id": "claude-sonnet-5", "max_tokens": 4096}
    made = copy.copy(own) if is_own else kind(client_args={"api_key": "unused"}, **config)
    made.client = brief.async_anthropic()
    return made


def _tool(tool: Any) -> Any:
    from strands.tools.tools import PythonAgentTool

    def run(asked: Any, **_: Any) -> Any:
        id = asked["toolUseId"]
        try:
            said = answer_of(tool, asked["input"], id)
        except ToolError as error:
            return _result(id, str(error), is_error=True)
        parts = with_pictures(said, _picture, lambda words: {"text": words})
        return _result(id, str(said) if parts is said else parts, is_error=False)

    async def delegate(asked: Any, **_: Any) -> Any:
        id = asked["toolUseId"]
        try:
            return _result(id, await tool.answer(asked["input"], id), is_error=False)
        except ToolError as error:
            return _result(id, str(error), is_error=True)

    words, schema = tool.description or tool.name, {"json": tool.input_schema}
    spec = {"name": tool.name, "description": words, "inputSchema": schema}
    return PythonAgentTool(tool.name, spec, delegate if isinstance(tool, Task) else run)
