"""Requests are written with `json.dumps`, which escapes half an emoji without a word."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from harness.agent import build
from harness.agent.blocks import read_block, write_message
from harness.agent.model import Answer, Query
from harness.core.brief import Brief
from harness.core.messages import Message
from tests.mutants import Mutant
from tests.mutants.second_model import Show

MUTANT = Mutant(
    breaks="model",
    statement="A lone surrogate makes every later body invalid (incidents 25; claude-code #86560)",
    scenario="half-an-emoji",
    killed_by="wellformed_text.request",
)


class Plain:
    """Asks the provider without an SDK. Its store cannot hold the half, so it keeps the words."""

    def __init__(self, brief: Brief) -> None:
        self._http = httpx2.Client(transport=brief.transport, base_url=brief.base_url)
        self._said: dict[str, str] = {}

    def query(self, query: Query, show: Show = None) -> Answer:
        """The model's answer; earlier ones are sent back in the very words."""
        messages = [write_message(message) for message in query.messages]
        body = {"model": "claude-sonnet-5", "max_tokens": 1000, "messages": messages}
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
        written = json.dumps(body).replace("half ?", "half \\ud83d")
        response = self._http.post("/v1/messages", content=written.encode(), headers=headers)
        return _answer(response.json())


def _answer(value: dict[str, Any]) -> Answer:
    blocks = [read_block(block) for block in value.get("content", [])]
    text = json.dumps([getattr(block, "text", "") for block in blocks])
    said = Message("assistant", tuple(blocks))
    if "\\ud83d" in text:
        said = Message("assistant", (read_block({"type": "text", "text": "half ?"}),))
    return Answer(said, value.get("stop_reason") or "end_turn")


def agent(brief: Brief) -> None:
    """The reference agent that writes its requests itself."""
    build(brief, model=Plain(brief)).run()
