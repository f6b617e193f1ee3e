"""agno: an Agent with a database in memory, which has the history of its session added."""

from __future__ import annotations

from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.anthropic import Claude
from agno.models.openai import OpenAIChat
from agno.run.agent import RunOutput
from agno.run.base import RunStatus
from agno.tools.function import Function

from harness.adapters import answer_of


def agent(brief: Any) -> None:
    """A message is a run; a run that has failed says so by its status."""
    database, tools = InMemoryDb(), [_tool(tool) for tool in brief.tools]
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        bot = Agent(model=_model(brief), tools=tools, db=database, session_id=message.session,
                    add_history_to_context=True, telemetry=False)  # fmt: skip
        if brief.options.get("stream"):
            *_, made = bot.run(message.text, stream=True, yield_run_output=True)
        else:
            made = bot.run(message.text)
        completed = isinstance(made, RunOutput) and made.status is RunStatus.completed
        kind = "final" if completed else "error"
        brief.send(str(made.content or ""), kind=kind, **where)


def _model(brief: Any) -> Any:
    if brief.wire == "anthropic":
        return Claude(id="claude-sonnet-4-5", client=brief.anthropic())
    return OpenAIChat(id="gpt-5", client=brief.openai())


def _tool(tool: Any) -> Function:
    def run(fc: Any, **given: Any) -> Any:
        return answer_of(tool, given, fc.call_id or "")

    return Function(name=tool.name, description=tool.description, parameters=tool.input_schema,
                    entrypoint=run, skip_entrypoint_processing=True)  # fmt: skip
