"""The reference agent with a client of a few lines in place of the SDK's.

It speaks the same JSON through the same transport, so a run means the same; it is some ten times as
fast, which makes a million steps of a machine feasible. It can neither stream nor wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.models.anthropic_blocks import read_block, write_message
from harness.agent.models.failures import FailureKind, ModelFailure
from harness.agent.models.model_call import MAX_TOKENS, MODEL, ModelAnswer, Query, answer_of
from harness.core.values.brief import Brief
from harness.core.values.plans import Send


class PlainModel:
    """A `Model` of the agent, without a library between the agent and the transport."""

    def __init__(self, brief: Any) -> None:
        self._dispatcher = brief.transport._dispatcher

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer; raises ModelFailure for a status that is an error."""
        headers = {"x-harness-purpose": query.purpose, "anthropic-version": "2023-06-01"}
        plan = self._dispatcher.model("POST", "/v1/messages", headers, _body(query))
        status = next(s.head.status for s in plan if isinstance(s, Send) and s.head)
        said = msgspec.json.decode(b"".join(s.data for s in plan if isinstance(s, Send)))
        if status >= 400:
            text = said["error"]["message"]
            raise ModelFailure(_kind(status, text), text)
        blocks = [read_block(block) for block in said["content"]]
        return answer_of(blocks, said["stop_reason"], 0)


def _kind(status: int, text: str) -> FailureKind:
    if "too long" in text:
        return "overflow"
    return "transient" if status in (429, 500, 529) else "permanent"


def _body(query: Query) -> bytes:
    tools = [msgspec.to_builtins(tool) for tool in query.tools]
    return msgspec.json.encode(
        {
            "model": MODEL,
            "max_tokens": MAX_TOKENS,
            "system": query.system,
            "messages": [write_message(message) for message in query.messages],
            **({"tools": tools} if tools else {}),
            **({"tool_choice": {"type": "none"}} if tools and query.tools_withdrawn else {}),
        }
    )


def agent(brief: Brief) -> None:
    """Serve a brief."""
    build(brief, model=PlainModel(brief)).run()
