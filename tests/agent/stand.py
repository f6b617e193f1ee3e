"""A brief made of real parts: the SDK over a scripted transport, an inbox and an outbox as lists.

The scripted provider checks every request by the API's rules, in code of its own, so each test of
the agent is a test of what it sends too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anthropic

from harness.agent import build
from harness.core.brief import Tool
from harness.core.calls import Inbound
from harness.core.messages import Message
from harness.stores.sqlite import SqliteStore
from tests.http_library import http

Wire = dict[str, Any]


def text(*texts: str, stop: str | None = "end_turn") -> Wire:
    """A reply of texts."""
    return {"content": [{"type": "text", "text": t} for t in texts], "stop_reason": stop}


def use(
    name: str, input: Any = None, id: str = "", stop: str | None = "tool_use", **more: Any
) -> Wire:
    """A reply that calls a tool; the id is drawn from the number of the request if not given."""
    given = {} if input is None else input
    call = {"type": "tool_use", "id": id, "name": name, "input": given, **more}
    return {"content": [call], "stop_reason": stop}


def uses(*calls: tuple[str, str, Any], stop: str | None = "tool_use") -> Wire:
    """A reply with several calls: id, name, input."""
    blocks = [{"type": "tool_use", "id": i, "name": n, "input": v} for i, n, v in calls]
    return {"content": blocks, "stop_reason": stop}


def error(status: int, message: str, type: str = "invalid_request_error") -> http.Response:
    """An error of the provider."""
    return http.Response(status, json=error_body(message, type))


def error_body(message: str, type: str = "invalid_request_error") -> Wire:
    """The envelope of an error."""
    return {"type": "error", "error": {"type": type, "message": message}}


def too_long(got: int = 208_380, most: int = 200_000) -> http.Response:
    """The refusal of a prompt over the window."""
    return error(400, f"prompt is too long: {got} tokens > {most} maximum")


def sse(*events: Wire) -> bytes:
    """Events as the bytes of a stream."""
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def message_events(message: Wire) -> list[Wire]:
    """A message as the events of its stream."""
    start = {**message, "content": [], "stop_reason": None}
    events: list[Wire] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(message["content"]):
        empty, delta = _delta(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        if delta:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}})
    return [*events, {"type": "message_stop"}]


def _delta(block: Wire) -> tuple[Wire, Wire | None]:
    match block:
        case {"type": "text", "text": said}:
            return {"type": "text", "text": ""}, {"type": "text_delta", "text": said}
        case {"type": "tool_use", "input": given, **rest}:
            partial = given if isinstance(given, str) else json.dumps(given)
            delta = {"type": "input_json_delta", "partial_json": partial}
            return {"type": "tool_use", "input": {}, **rest}, delta
    return block, None


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
        """The requests that are no compaction."""
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
                    yield f"id {block['id']} is used twice, or its input is no object"
                ids.add(block["id"])
    if messages and any(b["type"] == "tool_use" for b in messages[-1]["content"]):
        yield "ends with a call"


class Clock:
    """No time passes."""

    def now_ms(self) -> int:
        """Now."""
        return 0

    def sleep(self, seconds: float, /) -> None:
        """At once."""


class Stand:
    """A brief, and what came of it. `said` are the outbox's calls as dicts."""

    def __init__(self, folder: Path, replies: Sequence[Any], *inbox: Inbound | str) -> None:
        self.session_dir = folder
        self.clock = Clock()
        self.tools: list[Tool] = []
        self.options: dict[str, Any] = {}
        self.limits: dict[str, float] = {}
        self.wire, self.seed = "anthropic", 7
        self.base_url, self.api_key = "http://provider.test", "key"
        self.store: Any = SqliteStore(folder / "store.db")
        self.transport = self.async_transport = None
        self.provider = Provider(replies)
        self.messages = [
            m if isinstance(m, Inbound) else Inbound(f"m{n}", text=m)
            for n, m in enumerate(inbox, start=1)
        ]
        self.said: list[Wire] = []
        self.calls: list[tuple[str, Any]] = []
        self.is_cancelled: Callable[[], bool] = lambda: False

    def tool(self, name: str, answer: Any, required: Sequence[str] = ()) -> None:
        """Add a tool: `answer` is returned, raised, or called with the input."""

        def call(input: Any, id: str) -> Any:
            self.calls.append((name, input))
            said = answer(input) if callable(answer) else answer
            if isinstance(said, Exception):
                raise said
            return said

        properties = {key: {"type": "string"} for key in required}
        schema = {"type": "object", "properties": properties, "required": list(required)}
        self.tools.append(Tool(name, f"The tool {name}", schema, call))

    def anthropic(self, **settings: Any) -> anthropic.Anthropic:
        """The SDK's client on the scripted provider; its retries would only cost time here."""
        transport = http.MockTransport(self.provider)
        return anthropic.Anthropic(
            api_key=self.api_key,
            base_url=self.base_url,
            http_client=http.Client(transport=transport),
            max_retries=0,
            **settings,
        )

    def openai(self, **settings: Any) -> Any:
        """Not used."""
        raise NotImplementedError

    def inbox(self) -> Iterator[Inbound]:
        """The messages."""
        yield from self.messages

    def cancelled(self, session: str = "main") -> bool:
        """As the test says."""
        return self.is_cancelled()

    def send(
        self,
        text: str,
        kind: str = "final",
        session: str | None = None,
        in_reply_to: str | None = None,
        status: str | None = None,
    ) -> None:
        """Note what was said."""
        said = {"text": text, "kind": kind, "session": session, "to": in_reply_to}
        self.said.append({**said, "status": status})

    def run(self, **parts: Any) -> Stand:
        """Run the agent, and check every request that it made."""
        build(self, **parts).run()
        if self.provider.violations:
            raise AssertionError("\n".join(self.provider.violations))
        return self

    @property
    def ending(self) -> tuple[str, str, str]:
        """Kind, status and text of the only thing that was said, notices of compaction aside."""
        [said] = [said for said in self.said if said["kind"] != "compaction"]
        return said["kind"], said["status"], said["text"]

    def rows(self, session: str = "main") -> list[Message]:
        """What is stored."""
        return [row.message for row in self.store.rows(session)]

    @property
    def sides(self) -> str:
        """The roles of the stored rows, one letter each."""
        return "".join(message.role[0] for message in self.rows())
