"""Agents and Apps of google-adk: instructions, sub-agents, callbacks, plugins and settings stay.

The tools of the scenario stand in place of the first agent's own. The model of each agent is of the
wire, with a client of the brief. A session is one of a session service: in memory, or what the
user's own function makes in the run's folder. Then a run may begin with a past and be killed. A
cancel is the framework's signal to abort. An App whose events are compacted asks the model of the
brief for its summaries.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.adapters.shared.framework_agent import (
    NOT_RUN,
    SESSION,
    FrameworkAgent,
    adapted,
    answer_of,
    api_error,
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

_CONFIRM = "adk_request_confirmation"
"""The name of the call by which the framework asks for a confirmation."""

_USUAL = {"anthropic": "claude-sonnet-5", "gemini": "gemini-3.5-flash"}
_CLASSES = {"anthropic": "AnthropicLlm", "gemini": "Gemini"}


class AdkError(Exception):
    """What an event of the framework says of a run that failed."""


def google_adk(
    agent: Any,
    service: Callable[[Path], Any] | None = None,
    helper: Any = None,
    **settings: Any,
) -> FrameworkAgent:
    """An agent or an App of google-adk; `settings` are of the RunConfig, as in `max_llm_calls=5`.

    `service` makes the session service of a folder, as in
    `lambda folder: SqliteSessionService(str(folder / "adk.db"))`. `helper` is an agent that the
    tool `task` runs.
    """
    is_app = hasattr(agent, "events_compaction_config")
    wire = _wire_of((agent.root_agent if is_app else agent).model)

    async def play(brief: Any) -> None:
        from google.adk.agents.invocation_context import LlmCallsLimitExceededError
        from google.adk.apps import App
        from google.adk.platform.time import set_time_provider
        from google.adk.sessions import InMemorySessionService

        def alone(child: Any) -> Any:
            app = _app_of(child, App(name="task", root_agent=helper))
            return Chat(child, app, InMemorySessionService(), [], {}).answer

        kept = service(Path(brief.session_dir)) if service else InMemorySessionService()
        past = seed_of(brief) if service else []
        app = agent if is_app else App(name="app", root_agent=agent)
        set_time_provider(_later_each_time())
        sorry = sorry_for(AdkError, LlmCallsLimitExceededError, api_error(brief.wire))
        more = [Task(brief, alone, sorry)] if helper else []
        chat = Chat(brief, _app_of(brief, app, more), kept, past, settings)
        await converse(brief, chat.answer, sorry)

    own = agent.events_compaction_config if is_app else None
    at = own and (own.token_threshold or 0)
    helps = bool(helper)
    return adapted("google_adk", play, service, wire, cancels=True, compacts=at, helps=helps)


def _later_each_time() -> Callable[[], float]:
    """The time of the run, a microsecond later at each reading of one moment, as on a machine. By
    it the framework tells which events a summary holds, and virtual time stands still in a turn."""
    last, ahead = 0.0, 0

    def read() -> float:
        nonlocal last, ahead
        now = time.time()
        last, ahead = now, ahead + 1 if now == last else 0
        return now + ahead / 1e6

    return read


class Chat:
    """The sessions of a run, each kept by the session service under its name."""

    def __init__(
        self, brief: Any, app: Any, service: Any, past: list[Message], settings: dict[str, Any]
    ) -> None:
        from google.adk.runners import Runner

        self._brief, self._service, self._past, self._settings = brief, service, past, settings
        self._runner = Runner(app=app, session_service=service)

    async def answer(self, message: Any) -> str | None:
        """The words for a message; None for a turn that the user has cancelled."""
        from google.genai import types

        name, words = message.session, [types.Part(text=message.text)]
        asked, said = _open(await self._began(name)), None
        parts = [await self._asked(call, name) for call in asked] or words
        while parts:
            said, asked = await self._run(parts, message)
            parts = [await self._asked(call, name) for call in asked]
        return said

    async def _began(self, name: str) -> list[Any]:
        """The events of a session, which begins with the past of the scenario."""
        from google.adk.events import Event

        where = {"app_name": self._runner.app_name, "user_id": "user", "session_id": name}
        session = await self._service.get_session(**where)
        if session is None:
            session = await self._service.create_session(**where)
            for content in _contents(self._past if name == "main" else []):
                author = "user" if content.role == "user" else self._runner.agent.name
                event = Event(author=author, content=content, invocation_id="past")
                await self._service.append_event(session, event)
        return list(session.events)

    async def _run(self, parts: list[Any], message: Any) -> tuple[str | None, list[Any]]:
        """Run the agent once: its last words, and the questions that it leaves open."""
        from google.genai import types

        signal, events = asyncio.Event(), []
        async for event in self._runner.run_async(
            user_id="user",
            session_id=message.session,
            new_message=types.Content(role="user", parts=parts),
            run_config=self._config(message.id),
            abort_signal=signal,
        ):
            if event.partial:
                continue
            events.append(event)
            if self._brief.cancelled(message.session):
                signal.set()
        if signal.is_set():
            return None, []
        if events and (flaw := _flaw(events[-1])):
            raise AdkError(flaw)
        return _words(events), _open(events)

    def _config(self, id: str) -> Any:
        """The settings of a run; the framework keeps the id of the message with each event."""
        from google.adk.agents.run_config import RunConfig, StreamingMode

        given = {**self._settings, "custom_metadata": {"message": id}}
        if self._brief.options.get("stream"):
            given["streaming_mode"] = StreamingMode.SSE
        return RunConfig(**given)

    async def _asked(self, call: Any, session: str) -> Any:
        """What the user says to a call that waits, as the framework takes it: a yes or a no."""
        from google.genai import types

        first = call.args["originalFunctionCall"]
        given = {"id": first["id"], "session": session}
        is_meant = await may_run(self._brief, first["name"], first["args"], **given)
        response = types.FunctionResponse(
            id=call.id, name=_CONFIRM, response={"confirmed": is_meant}
        )
        return types.Part(function_response=response)


def _flaw(event: Any) -> str:
    """What the last event says of a run that failed, or whose answer was cut or refused."""
    if event.error_code:
        return str(event.error_message or event.error_code)
    reason = event.finish_reason
    return "" if reason in (None, "STOP") else f"the answer ended with {reason.value}"


def _parts(event: Any) -> list[Any]:
    return (event.content.parts if event.content else None) or []


def _open(events: list[Any]) -> list[Any]:
    """The questions that have no answer yet: a killed run has not answered them."""
    parts = [part for event in events for part in _parts(event)]
    answered = {part.function_response.id for part in parts if part.function_response}
    calls = [part.function_call for part in parts if part.function_call]
    return [call for call in calls if call.name == _CONFIRM and call.id not in answered]


def _words(events: list[Any]) -> str:
    finals = [event for event in events if event.is_final_response()]
    parts = _parts(finals[-1]) if finals else []
    return "".join(part.text for part in parts if part.text and not part.thought)


def _contents(past: list[Message]) -> Iterator[Any]:
    """The past as contents. Thoughts are left out: their signatures are of the model that made
    them."""
    from google.genai import types

    names = {use.id: use.name for message in past for use in message.tool_uses}
    for message in past:
        role = "user" if message.role == "user" else "model"
        parts = [part for block in message.blocks for part in _part(block, names, types)]
        yield types.Content(role=role, parts=parts)


def _part(block: Block, names: dict[str, str], types: Any) -> Iterator[Any]:
    match block:
        case Text(text):
            yield types.Part(text=text)
        case ToolUse(id, name, input):
            args = input if isinstance(input, dict) else {"input": input}
            yield types.Part(function_call=types.FunctionCall(id=id, name=name, args=args))
        case ToolResult(id):
            said = {"error" if block.is_error else "result": block.text}
            name = names.get(id, "unknown")  # a past may hold a result whose call is lost
            made = types.FunctionResponse(id=id, name=name, response=said)
            yield types.Part(function_response=made)
        case Opaque("image", {"source": {"type": "base64", "media_type": kind, "data": data}}):
            yield types.Part.from_bytes(data=base64.b64decode(data), mime_type=kind)
        case Opaque(kind):
            raise TypeError(f"the past holds a block of the kind {kind}, which no content takes")


def _wire_of(model: Any) -> str:
    """The wire of an agent's own model; "" where it has none, or one of another provider."""
    if isinstance(model, str):
        named = (wire for wire, usual in _USUAL.items() if model[:6] == usual[:6])
        return next(named, "")
    return wire_of_class(model, _CLASSES)


def _app_of(brief: Any, app: Any, more: Sequence[Any] = ()) -> Any:
    """A copy of the App. The framework writes into its settings of compaction, so each run has its
    own."""
    given = {"root_agent": _with_model(app.root_agent, brief, more)}
    if own := app.events_compaction_config:
        made = copy.copy(own.summarizer)
        if llm := getattr(made, "_llm", None):
            made._llm = _model(brief, llm)
        given["events_compaction_config"] = own.model_copy(update={"summarizer": made})
    return app.model_copy(update=given)


def _with_model(agent: Any, brief: Any, more: Sequence[Any]) -> Any:
    """A copy of the agent with the tools of the scenario and `more`. Each agent of it has a client
    of the brief."""
    made = agent.clone(update={"tools": [_tool(brief, tool) for tool in (*brief.tools, *more)]})
    todo = [made]
    for each in todo:
        todo += each.sub_agents
        if hasattr(each, "model"):  # an agent that runs others in order has none
            each.model = _model(brief, each.model)
    return made


def _model(brief: Any, own: Any) -> Any:
    client = brief.gemini() if brief.wire == "gemini" else brief.async_anthropic()
    if _wire_of(own) == brief.wire and not isinstance(own, str):
        return own.model_copy(update={"client": client})
    name = own if _wire_of(own) == brief.wire else _USUAL[brief.wire]
    if brief.wire == "gemini":
        from google.adk.models.google_llm import Gemini

        return Gemini(model=name, client=client)
    from google.adk.models.anthropic_llm import AnthropicLlm

    return AnthropicLlm(model=name, client=client)


def _tool(brief: Any, tool: Any) -> Any:
    """A tool of the scenario; it asks for a confirmation as the framework's own tools do."""
    from google.adk.tools import BaseTool
    from google.genai import types

    def picture(data: bytes, kind: str) -> Any:
        return types.Part.from_bytes(data=data, mime_type=kind)

    class Offered(BaseTool):  # type: ignore[misc]
        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=tool.input_schema,
            )

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
            if tool.needs_approval:
                if not tool_context.tool_confirmation:
                    tool_context.request_confirmation(hint=f"May {tool.name} run?")
                    tool_context.actions.skip_summarization = True
                    return {"error": "This tool call requires confirmation."}
                if not tool_context.tool_confirmation.confirmed:
                    return {"error": "This tool call is rejected."}
            id = tool_context.function_call_id or ""
            try:
                if brief.cancelled(SESSION.get()):
                    raise ToolError(NOT_RUN)
                is_task = isinstance(tool, Task)
                said = await tool.answer(args, id) if is_task else answer_of(tool, args, id)
            except ToolError as error:
                return {"error": str(error)}
            return said if isinstance(said, dict) else {"result": with_pictures(said, picture)}

    return Offered(name=tool.name, description=tool.description)
