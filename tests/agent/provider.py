"""A scripted provider of the Messages API.

It checks every request by the API's rules, with code of its own. Each test of the agent is
therefore also a test of its requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.agent.replies import Wire, message_events, sse
from tests.http_library import http


class Provider:
    """Answers requests from a list; the last reply answers all that follow."""

    def __init__(self, replies: Sequence[Any]) -> None:
        self.replies = list(replies)
        self.requests: list[Wire] = []
        self.purposes: list[str] = []
        self.violations: list[str] = []
        self.compact_replies: list[Any] = []

    def __call__(self, request: http.Request) -> http.Response:
        """One exchange."""
        body = json.loads(request.content)
        purpose = request.headers["x-harness-purpose"]
        self.violations += [f"request {len(self.requests)}: {v}" for v in violations(body)]
        self.requests.append(body)
        self.purposes.append(purpose)
        waiting = self.compact_replies if purpose == "compact" else self.replies
        reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if callable(reply):
            reply = reply(body)
        return self._written(reply, body)

    def _written(self, reply: Any, body: Wire) -> http.Response:
        match reply:
            case http.Response():
                return reply
            case bytes():
                return http.Response(
                    200, content=reply, headers={"content-type": "text/event-stream"}
                )
        usage = {"input_tokens": 10, "output_tokens": 5}
        content = [
            {**b, "id": b["id"] or f"toolu_{len(self.requests)}"} if "id" in b else b
            for b in reply["content"]
        ]
        whole = {"id": f"msg_{len(self.requests)}", "type": "message", "role": "assistant"}
        whole |= {"model": body["model"], "usage": usage, "stop_sequence": None}
        whole |= {"content": content, "stop_reason": reply["stop_reason"]}
        if not body.get("stream"):
            return http.Response(200, json=whole)
        return self._written(sse(*message_events(whole)), body)

    @property
    def mains(self) -> list[Wire]:
        """The requests that are not compactions."""
        pairs = zip(self.requests, self.purposes, strict=True)
        return [request for request, purpose in pairs if purpose == "main"]


def violations(body: Wire) -> Iterator[str]:
    """What the API, or a strict clone of it, refuses in a request."""
    messages = body["messages"]
    if not messages or messages[0]["role"] != "user":
        yield "does not begin with the user"
    ids: set[str] = set()
    for before, message in zip([None, *messages], messages, strict=False):
        if before is not None and before["role"] == message["role"]:
            yield f"two {message['role']} messages in a row"
        if not message["content"]:
            yield "empty content"
        blocks = message["content"]
        if any(b["type"] == "text" and not b["text"].strip() for b in blocks):
            yield "blank text"
        given = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        asked = [b["id"] for b in (before or {"content": []})["content"] if b["type"] == "tool_use"]
        if sorted(given) != sorted(asked):
            yield f"results {given} for calls {asked}"
        kinds = [b["type"] == "tool_result" for b in blocks]
        if kinds != sorted(kinds, reverse=True):
            yield "results are not first"
        for block in blocks:
            if block["type"] == "tool_use":
                if block["id"] in ids or not isinstance(block["input"], dict):
                    yield f"id {block['id']} is used twice, or its input is not an object"
                ids.add(block["id"])
    if messages and any(b["type"] == "tool_use" for b in messages[-1]["content"]):
        yield "ends with a call"
