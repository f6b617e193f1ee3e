"""Agents of openai-agents: their instructions, output, handoffs, guardrails and settings stay.

The tools of the scenario stand in place of the first agent's own. The model of each agent of the
run is of the wire, with a client of the brief. A session is a SQLiteSession in memory, or what the
user's own function makes in the run's folder: then a run may begin with a past and be killed. A run
that waits for the user is kept as text beside it, as the framework's page says: a state is in no
session. A cancel is seen before each call of the model, and before each tool.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harness.adapters.shared.framework_agent import (
    NOT_RUN,
    SESSION,
    FrameworkAgent,
    TurnCancelled,
    adapted,
    answer_of,
    converse,
    refusal_of,
    said_to,
    seed_of,
    sorry_for,
    with_pictures,
)
from harness.adapters.shared.sub_agents import Task
from harness.core.values.brief import ToolError
from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolResult, ToolUse

_NAME = "gpt-5"


def openai_agents(
    agent: Any,
    sessions: Callable[[str, Path], Any] | None = None,
    helper: Any = None,
    **settings: Any,
) -> FrameworkAgent:
    """An agent of openai-agents; `settings` go to each `Runner.run`, as in `max_turns=5`.

    `sessions` makes the Session of a name in a folder, as in
    `lambda name, folder: SQLiteSession(name, folder / "agent.db")`. `helper` is an agent that the
    tool `task` runs.
    """

    async def play(brief: Any) -> None:
        from agents import SQLiteSession
        from agents.exceptions import AgentsException
        from openai import APIError

        sorry = sorry_for(AgentsException, APIError)
        more = [Task(brief, lambda child: _alone(child, helper), sorry)] if helper else []
        bot, named = _bot(brief, agent, more), _settings(brief, agent, settings)
        made: dict[str, Any] = {}

        async def session_of(name: str) -> Any:
            if name in made:
                return made[name]
            if sessions is None:
                made[name] = SQLiteSession(name)
            else:
                made[name] = sessions(name, Path(brief.session_dir))
                await _begin(made[name], seed_of(brief) if name == "main" else [])
            return made[name]

        async def answer(message: Any) -> str | None:
            given = {**named, "session": await session_of(message.session)}
            name = f"state-{quote(message.session, safe='')}.json"
            kept = Path(brief.session_dir, name) if sessions else None
            return await Turn(brief, bot, message, given, kept).answer()

        await converse(brief, answer, sorry)

    wires = _wires(agent.model)
    return adapted("openai_agents", play, sessions, *wires, cancels=True, helps=bool(helper))


def _bot(brief: Any, own: Any, more: Sequence[Any] = ()) -> Any:
    """The agent with the tools of the scenario and `more`."""
    return own.clone(tools=[_tool(brief, tool) for tool in (*brief.tools, *more)], mcp_servers=[])


def _settings(brief: Any, own: Any, given: dict[str, Any]) -> dict[str, Any]:
    from agents import RunConfig

    config = given.get("run_config") or RunConfig()
    config.model, config.tracing_disabled = _model(brief, own.model), True
    return {**given, "run_config": config}


def _alone(brief: Any, own: Any) -> Callable[[Any], Awaitable[str | None]]:
    """What answers the one message of a sub-agent, which has no session."""

    async def answer(message: Any) -> str | None:
        given = _settings(brief, own, {})
        return await Turn(brief, _bot(brief, own), message, given, None).answer()

    return answer


async def _begin(session: Any, past: list[Message]) -> None:
    """Put the past of a scenario into a session that is new."""
    if past and not await session.get_items(limit=1):
        await session.add_items([item for message in past for item in _items(message)])


def _items(message: Message) -> Iterator[dict[str, Json]]:
    """A message as the items of the Responses API, which the framework stores for either API.

    Thoughts are left out: their signatures are of the provider that made them.
    """
    if said := [part for block in message.blocks for part in _part(block)]:
        is_plain = all("text" in part for part in said)
        yield {"role": message.role, "content": message.text if is_plain else said}
    for block in message.blocks:
        match block:
            case ToolUse(id, name, input):
                call = {"type": "function_call", "call_id": id, "name": name}
                yield {**call, "arguments": json.dumps(input)}
            case ToolResult(id):
                yield {"type": "function_call_output", "call_id": id, "output": block.text}


def _part(block: Block) -> Iterator[dict[str, Json]]:
    match block:
        case Text(text):
            yield {"type": "input_text", "text": text}
        case Opaque("image", {"source": {"type": "base64", "media_type": kind, "data": data}}):
            yield {"type": "input_image", "image_url": f"data:{kind};base64,{data}"}
        case Opaque(kind):
            raise TypeError(f"the past holds a block of the kind {kind}, which no session takes")


def _wires(model: Any) -> tuple[str, ...]:
    """The wire of an agent's own model; a name is of the default, which is Responses."""
    if isinstance(model, str) or model is None:
        return ("openai-responses",)
    kind = type(model).__name__
    return {
        "OpenAIChatCompletionsModel": ("openai-chat",),
        "OpenAIResponsesModel": ("openai-responses",),
    }.get(kind, ())


def _model(brief: Any, own: Any) -> Any:
    from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel

    is_new = brief.wire == "openai-responses"
    kind = OpenAIResponsesModel if is_new else OpenAIChatCompletionsModel
    named = own if isinstance(own, str) else str(getattr(own, "model", "") or _NAME)
    return _until_cancelled(brief, kind)(named, brief.async_openai())


def _until_cancelled(brief: Any, kind: Any) -> Any:
    class UntilCancelled(kind):  # type: ignore[misc]
        """A model that is asked no more once the user has cancelled the turn."""

        async def get_response(self, *given: Any, **named: Any) -> Any:
            _go_on(brief)
            return await super().get_response(*given, **named)

        async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
            _go_on(brief)
            async for event in super().stream_response(*given, **named):
                yield event

    return UntilCancelled


def _go_on(brief: Any) -> None:
    if brief.cancelled(SESSION.get()):
        raise TurnCancelled


def _tool(brief: Any, tool: Any) -> Any:
    from agents import FunctionTool, ToolOutputImage, ToolOutputText

    def picture(data: bytes, kind: str) -> Any:
        written = base64.b64encode(data).decode()
        return ToolOutputImage(image_url=f"data:{kind};base64,{written}")

    def text(words: str) -> Any:
        return ToolOutputText(text=words)

    async def delegate(context: Any, arguments: str) -> Any:
        try:
            return await tool.answer(_input(arguments), context.tool_call_id)
        except ToolError as error:
            return f"Error: {error}"

    async def run(context: Any, arguments: str) -> Any:
        if brief.cancelled(SESSION.get()):
            return NOT_RUN
        try:
            said = answer_of(tool, _input(arguments), context.tool_call_id)
            return with_pictures(said, picture, text)
        except ToolError as error:
            return f"Error: {error}"

    work = delegate if isinstance(tool, Task) else run
    made = FunctionTool(
        tool.name, tool.description, tool.input_schema, work, strict_json_schema=False
    )
    made.needs_approval = tool.needs_approval
    return made


class Turn:
    """The runs of a message. One that waits for the user is kept in a file, if there is one."""

    def __init__(
        self, brief: Any, bot: Any, message: Any, settings: dict[str, Any], kept: Path | None
    ) -> None:
        self._brief, self._bot, self._message = brief, bot, message
        self._settings, self._kept = settings, kept

    async def answer(self) -> str | None:
        """The words for the message; None where the user has cancelled it."""
        try:
            return await self._answer()
        except TurnCancelled:
            return None

    async def _answer(self) -> str:
        """A run that was killed as it waited goes on first, and is the run of this message where
        that comes again."""
        if self._kept and self._kept.exists():
            from agents import RunState

            state = await RunState.from_string(self._bot, self._kept.read_text("utf-8"))
            said = await self.answer_from(await self._answered(state))
            if self._message.attempt > 1:
                return said
        return await self.answer_from(self._message.text)

    async def answer_from(self, given: Any) -> str:
        """The words of a run that begins with a text or with a state, once it waits no more."""
        try:
            made = await self._run(given)
            while made.interruptions:
                state = made.to_state()
                self._keep(state.to_string())
                made = await self._run(await self._answered(state))
        except Exception:
            self._forget()  # its tools may have run: the state would run them again
            raise
        self._forget()
        return str(made.final_output)

    def _forget(self) -> None:
        if self._kept:
            self._kept.unlink(missing_ok=True)

    def _keep(self, text: str) -> None:
        """Whole or not at all: a kill may come as the file is written."""
        if self._kept:
            begun = self._kept.with_suffix(".new")
            begun.write_text(text, encoding="utf-8")
            os.replace(begun, self._kept)

    async def _answered(self, state: Any) -> Any:
        """The state with what the user says: a yes, or a no with the words that the model reads."""
        for item in state.get_interruptions():
            call = item.raw_item
            shown, where = _input(call.arguments), {"session": self._message.session}
            said = await said_to(self._brief, call.name, shown, id=call.call_id, **where)
            if said.answer == "allow" and said.input == shown:
                state.approve(item)
            elif said.answer == "allow":
                only = f"Not run. The user allows it with this input alone: {said.input}"
                state.reject(item, rejection_message=only)
            else:
                state.reject(item, rejection_message=refusal_of(said))
        return state

    async def _run(self, given: Any) -> Any:
        from agents import Runner

        if not self._brief.options.get("stream"):
            return await Runner.run(self._bot, given, **self._settings)
        running = Runner.run_streamed(self._bot, given, **self._settings)
        async for _ in running.stream_events():
            pass
        return running


def _input(arguments: str) -> Any:
    """The input of a call; text that is not JSON as it is."""
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments
