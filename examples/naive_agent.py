"""A naive agent: the loop of a tutorial, with nothing that production taught.

It is here to fail: `harness run scenarios --target examples.naive_agent:agent` shows which public
incidents an agent like this would repeat. It has no bound, no breaker, no compaction and no store,
and trusts every answer.
"""

from __future__ import annotations

from typing import Any

import anthropic

from harness import Brief, ToolError


class NaiveAgent:
    """One conversation a session, kept in memory."""

    def __init__(self, brief: Brief) -> None:
        self.brief, self.client = brief, brief.anthropic()
        self.tools = {tool.name: tool for tool in brief.tools}
        self.sessions: dict[str, list[dict[str, Any]]] = {}

    def turn(self, session: str, text: str) -> str:
        """Ask the model until it calls no tool, and say its last words."""
        messages = self.sessions.setdefault(session, [])
        messages.append({"role": "user", "content": text})
        while True:
            reply = self.client.messages.create(
                model="any", max_tokens=4000, messages=messages, tools=self.offered()
            )
            blocks = [block.model_dump(exclude_none=True) for block in reply.content]
            messages.append({"role": "assistant", "content": blocks})
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                return "".join(getattr(block, "text", "") for block in reply.content)
            messages.append({"role": "user", "content": [self.result(call) for call in calls]})

    def offered(self) -> list[dict[str, Any]]:
        """The tools as the model gets them."""
        return [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema}
            for t in self.tools.values()
        ]

    def result(self, call: Any) -> dict[str, Any]:
        """Run a tool with any input of the model."""
        try:
            content = self.tools[call.name].call(call.input, id=call.id)
        except ToolError as error:
            content = str(error)
        return {"type": "tool_result", "tool_use_id": call.id, "content": content}


def agent(brief: Brief) -> None:
    """Answer every message; when the provider says no, say sorry."""
    naive = NaiveAgent(brief)
    for inbound in brief.inbox():
        try:
            text = naive.turn(inbound.session, inbound.text)
        except anthropic.APIError:
            text = "Sorry, something went wrong. Please try again."
        brief.send(text, session=inbound.session, in_reply_to=inbound.id)
