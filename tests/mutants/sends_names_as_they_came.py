"""A tool name that no API takes goes back to the model as it came."""

from __future__ import annotations

from typing import Any

from harness.agent import build
from harness.agent.models.model_call import Query, respelt
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.agent.models.openai_responses_model import OpenAIResponsesModel
from harness.core.values.brief import Brief
from harness.core.values.messages import Json
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="A name with a dot is stored, and each later request is refused (codex#24369)",
    scenario="codex-name-sent-back@openai-responses+stream",
    killed_by="valid_request",
)


class Chat(OpenAIChatModel):
    """Sends names unchanged over Chat Completions."""

    def _params(self, query: Query) -> dict[str, Any]:
        return unchanged(super()._params(query), query)


class Responses(OpenAIResponsesModel):
    """Sends names unchanged over Responses."""

    def _params(self, query: Query) -> dict[str, Any]:
        return unchanged(super()._params(query), query)


def unchanged(params: dict[str, Any], query: Query) -> dict[str, Any]:
    """The parameters with the names that the model gave."""
    named = {respelt(c.name): c.name for message in query.messages for c in message.tool_uses}
    return {**params, "extra_body": _renamed(params["extra_body"], named)}


def _renamed(value: Json, named: dict[str, str]) -> Json:
    if isinstance(value, list):
        return [_renamed(each, named) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _renamed(each, named) for key, each in value.items()}
    return {**inner, "name": named.get(inner["name"], inner["name"])} if "name" in inner else inner


def agent(brief: Brief) -> None:
    """The reference agent that sends names as they came."""
    model = Responses if brief.wire == "openai-responses" else Chat
    build(brief, model=model(brief.openai(), stream=bool(brief.options.get("stream")))).run()
