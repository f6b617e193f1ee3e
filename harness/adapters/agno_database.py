"""Agents of agno: an Agent's instructions, hooks and settings stay, and a message is a run of it.

The tools of the scenario stand in place of the Agent's own, and its model has a client of the
brief. The sessions are in a database in memory, or in one that the user's own function makes in the
run's folder: then a run may begin with a past and be killed. A question is a confirmation, which
takes a note and another input. A cancel is seen between the events of a stream, and around each
tool. An Agent with `compaction` asks the model of the brief for its summaries.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.adapters.shared.framework_agent import (
    FrameworkAgent,
    adapted,
    answer_of,
    converse,
    refusal_of,
    said_to,
    seed_of,
    sorry_for,
    wire_of_class,
    with_pictures,
)
from harness.adapters.shared.sub_agents import Task
from harness.core.values.messages import Message, Opaque, Text, ToolResult, ToolUse

_MODELS = {
    "anthropic": ("anthropic", "Claude", "claude-sonnet-5"),
    "openai-chat": ("openai", "OpenAIChat", "gpt-5"),
    "openai-responses": ("openai", "OpenAIResponses", "gpt-5"),
}
_CLASSES = {wire: name for wire, (_, name, _) in _MODELS.items()}


class RunFailed(Exception):
    """What the framework says of a run that failed: it raises nothing."""


def agno(
    agent: Any,
    database: Callable[[Path], Any] | None = None,
    helper: Any = None,
    **settings: Any,
) -> FrameworkAgent:
    """An Agent of agno; `settings` go to each call of it, as in `dependencies={...}`.

    `database` makes the database of a folder, as in
    `lambda folder: SqliteDb(db_file=str(folder / "agno.db"))`. `helper` is an Agent that the tool
    `task` runs.
    """
    wire = wire_of_class(agent.model, _CLASSES)
    compaction = getattr(agent, "compaction", None)

    async def play(brief: Any) -> None:
        from agno.db.in_memory import InMemoryDb

        def alone(child: Any) -> Any:
            return Chat(child, _bot(child, helper, InMemoryDb()), [], {}).answer

        kept, sorry = database(Path(brief.session_dir)) if database else None, sorry_for(RunFailed)
        more = [Task(brief, alone, sorry)] if helper else []
        bot = _bot(brief, agent, kept or InMemoryDb(), more)
        past = seed_of(brief) if database else []
        await converse(brief, Chat(brief, bot, past, settings).answer, sorry)

    at = getattr(compaction, "compact_at_tokens", 0) or 0
    compacts = at if compaction else None
    helps = bool(helper)
    return adapted("agno", play, database, wire, cancels=True, compacts=compacts, helps=helps)


def _bot(brief: Any, own: Any, kept: Any, more: Sequence[Any] = ()) -> Any:
    """A copy of the Agent with the tools of the scenario and `more`, and a model of the brief."""
    given = {"model": _model(brief, own.model), "db": kept, "telemetry": False}
    given |= {"compaction": _compaction(brief, getattr(own, "compaction", None))}
    tools = [_tool(brief, tool) for tool in (*brief.tools, *more)]
    return own.deep_copy(update={**given, "tools": tools})


class Chat:
    """The sessions of a run, each kept by the database under its name."""

    def __init__(self, brief: Any, bot: Any, past: list[Message], settings: dict[str, Any]) -> None:
        self._brief, self._bot, self._past = brief, bot, past
        self._settings = settings

    async def answer(self, message: Any) -> str | None:
        """The words for a message; None for a turn that the user has cancelled."""
        name, made = message.session, None
        last = await self._last(name)
        if last is not None and last.is_paused:  # the user has not answered, or cancelled the turn
            made = await self._asked(last, name)
        elif last is not None and _is_open(last, message.id):
            made = await self._call(self._bot.acontinue_run, name, run_id=last.run_id)
        if made is None or not _is_of(made, message.id):
            told = {"metadata": {"message": message.id}}
            made = await self._call(self._bot.arun, name, input=message.text, **told)
        while made.is_paused:
            made = await self._asked(made, name)
        if made.is_cancelled:
            return None
        if made.status.value != "COMPLETED":
            raise RunFailed(str(made.content))
        return str(made.content or "")

    async def _last(self, name: str) -> Any:
        """The last run of a session, which begins with the past of the scenario."""
        self._bot.initialize_agent()
        session = await self._bot.aget_session(name)
        if session is None and name == "main" and self._past:
            session = await self._seeded(name)
        return session.runs[-1] if session and session.runs else None

    async def _seeded(self, name: str) -> Any:
        """A session with the past, stored as the framework's own are: each run beside it."""
        from agno.agent._session import asave_run
        from agno.run.agent import RunOutput
        from agno.run.base import RunStatus
        from agno.session import AgentSession

        session = AgentSession(name, agent_id=self._bot.id, session_data={}, runs=[])
        await self._bot.asave_session(session)
        ids = {"agent_id": self._bot.id, "session_id": name}
        for number, rows in enumerate(_turns(self._past)):
            done = {**ids, "run_id": f"past-{number}", "status": RunStatus.completed}
            session.upsert_run(RunOutput(**done, messages=rows))
            await asave_run(self._bot, session.runs[-1], name, run_index=number)
        return session

    async def _call(self, run: Callable[..., Any], name: str, **given: Any) -> Any:
        """Run the Agent, or go on with a run of it: what it returns, or its last event."""
        given = {**self._settings, **given, "session_id": name}
        if not self._brief.options.get("stream"):
            return await run(**given, stream=False)
        made: Any = None
        async for made in run(**given, stream=True, yield_run_output=True):
            if self._brief.cancelled(name):
                await self._bot.acancel_run(made.run_id)
        if not hasattr(made, "status"):  # the event of an error
            raise RunFailed(str(made.content))
        return made

    async def _asked(self, paused: Any, name: str) -> Any:
        """Go on with a run that waits for the user: what the user says to each of its questions."""
        for need in paused.active_requirements:
            call = need.tool_execution
            where = {"id": call.tool_call_id, "session": name}
            said = await said_to(self._brief, call.tool_name, call.tool_args, **where)
            if said.answer == "allow":
                call.tool_args = said.input
                need.confirm()
            else:
                need.reject(refusal_of(said))
        given = {"run_id": paused.run_id, "requirements": paused.requirements}
        return await self._call(self._bot.acontinue_run, name, **given)


def _is_of(run: Any, id: str) -> bool:
    """Whether a run is that of a message."""
    return (run.metadata or {}).get("message") == id


def _is_open(run: Any, id: str) -> bool:
    """Whether a killed process was in the midst of this message."""
    return run.status.value == "RUNNING" and _is_of(run, id)


def _turns(past: list[Message]) -> Iterator[list[Any]]:
    """The past as the framework keeps it: the rows of a run for each message of the user."""
    rows: list[Any] = []
    for message in past:
        if message.role == "user" and not message.tool_results and rows:
            yield rows
            rows = []
        rows += _rows(message)
    if rows:
        yield rows


def _rows(message: Message) -> Iterator[Any]:
    """A message as messages of agno: each result is one. Thoughts are left out: their signatures
    are of the model that made them."""
    from agno.media import Image
    from agno.models.message import Message as Row

    text, calls, pictures = [], [], []
    for block in message.blocks:
        match block:
            case Text(words):
                text.append(words)
            case ToolUse(id, name, input):
                function = {"name": name, "arguments": json.dumps(input)}
                calls.append({"id": id, "type": "function", "function": function})
            case ToolResult(id):
                failed = {"tool_call_error": block.is_error}
                yield Row(role="tool", tool_call_id=id, content=block.text, **failed)
            case Opaque("image", {"source": {"type": "base64", "media_type": kind, "data": data}}):
                pictures.append(Image(content=base64.b64decode(str(data)), mime_type=str(kind)))
            case Opaque(kind):
                raise TypeError(f"the past holds a block of the kind {kind}, which no run takes")
    if text or calls or pictures:
        more = {"tool_calls": calls or None, "images": pictures or None}
        yield Row(role=message.role, content="\n\n".join(text) or None, **more)


def _compaction(brief: Any, own: Any) -> Any:
    """The settings of a run: the framework writes its model and its counts into them."""
    if not own or own is True:
        return own
    made = copy.copy(own)
    made.model, made.stats = own.model and _model(brief, own.model), type(own.stats)()
    return made


def _model(brief: Any, own: Any) -> Any:
    """A model of the wire with a client of the brief: a copy of the agent's own, if it is one."""
    module, name, usual = _MODELS[brief.wire]
    if wire_of_class(own, _CLASSES) == brief.wire:
        made = copy.copy(own)
    else:
        made = getattr(import_module(f"agno.models.{module}"), name)(id=usual)
    is_anthropic = brief.wire == "anthropic"
    made.async_client = brief.async_anthropic() if is_anthropic else brief.async_openai()
    return made


def _is_stopped(brief: Any, context: Any) -> bool:
    """Whether the user has cancelled the turn of a run. Then the framework is told so."""
    from agno.agent import Agent

    if is_over := bool(brief.cancelled(context.session_id)):
        Agent.cancel_run(context.run_id)
    return is_over


def _tool(brief: Any, tool: Any) -> Any:
    from agno.exceptions import RunCancelledException
    from agno.media import Image
    from agno.tools.function import Function, ToolResult

    def picture(data: bytes, kind: str) -> Any:
        return Image(content=data, mime_type=kind)

    def go_on(context: Any) -> None:
        if _is_stopped(brief, context):
            raise RunCancelledException("The user has cancelled the turn.")

    def run(fc: Any, _agno_run_context: Any = None, **given: Any) -> Any:
        go_on(_agno_run_context)
        answer = answer_of(tool, given, fc.call_id or "")
        _is_stopped(brief, _agno_run_context)  # the framework looks for its own cancel after a tool
        if (said := with_pictures(answer, picture)) is answer:
            return answer
        images = [each for each in said if isinstance(each, Image)]
        words = [each for each in said if isinstance(each, str)]
        return ToolResult(content="\n".join(words), images=images)

    async def delegate(fc: Any, _agno_run_context: Any = None, **given: Any) -> Any:
        go_on(_agno_run_context)
        try:
            return await tool.answer(given, fc.call_id or "")
        finally:
            go_on(_agno_run_context)

    return Function(
        name=tool.name,
        description=tool.description,
        parameters=tool.input_schema,
        entrypoint=delegate if isinstance(tool, Task) else run,
        skip_entrypoint_processing=True,
        requires_confirmation=tool.needs_approval or None,
    )
