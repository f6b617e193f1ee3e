"""Requests are written with `json.dumps`, which escapes half an emoji silently."""

from __future__ import annotations

import json

import httpx2
import msgspec

from harness.agent import build
from harness.agent.models.anthropic_blocks import read_block, write_message
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import MODEL, ModelAnswer, Query, answer_of
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import Show

MUTANT = Mutant(
    breaks="model",
    statement="A lone surrogate makes every later body invalid (incidents 25; claude-code #86560)",
    scenario="half-an-emoji",
    killed_by="wellformed_text.request",
)


class Plain:
    """Asks the provider without an SDK. The store cannot hold the half: U+FFFD stands for it."""

    def __init__(self, brief: Brief) -> None:
        self._http = httpx2.Client(transport=brief.transport, base_url=brief.base_url)

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The model's answer; earlier ones are sent back in the very words."""
        messages = [write_message(message) for message in query.messages]
        tools = [msgspec.to_builtins(tool) for tool in query.tools]
        body = {"model": MODEL, "max_tokens": 1000, "messages": messages, "tools": tools}
        written = json.dumps(body).replace("\\ufffd", "\\ud83d")
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
        response = self._http.post("/v1/messages", content=written.encode(), headers=headers)
        value = response.json()
        if response.status_code >= 400:
            raise ModelFailure("permanent", value["error"]["message"])
        return answer_of([read_block(block) for block in value["content"]], value["stop_reason"])


def agent(brief: Brief) -> None:
    """The reference agent that writes its requests itself."""
    build(brief, model=Plain(brief)).run()
