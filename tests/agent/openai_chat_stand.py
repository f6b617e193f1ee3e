"""A provider of Chat Completions that gives one answer, and the model that asks it."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.core.values.messages import ToolSpec, user
from tests.http_library import openai_http as http

ASK = Query((user("hi"),), (ToolSpec("read", "Reads."),))


class Stand:
    """A provider that gives one answer, and keeps what it was asked."""

    def __init__(self, answer: Any, stream: bool = False, status: int = 200) -> None:
        self.answer, self.status = answer, status
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Any] = []
        client = openai.OpenAI(
            api_key="key",
            base_url="http://provider.test/v1",
            max_retries=0,
            http_client=http.Client(transport=http.MockTransport(self._serve)),
        )
        self.model = OpenAIChatModel(client, stream, "gpt-x", 100)

    def _serve(self, request: http.Request) -> http.Response:
        self.asked.append(json.loads(request.read()))
        self.headers.append(request.headers)
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, dict):
            return http.Response(self.status, json=self.answer)
        kind = "text/event-stream" if self.asked[0].get("stream") else "text/html"
        return http.Response(self.status, content=self.answer, headers={"content-type": kind})

    def query(self, query: Query = ASK) -> tuple[ModelAnswer, str]:
        """The answer to a query, and what was shown of it."""
        shown: list[str] = []
        answer = self.model.query(query, shown.append)
        return answer, "".join(shown)


def completion(reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    """An answer at once."""
    said = {"role": "assistant", "content": None, **message}
    choice = {"index": 0, "message": said, "finish_reason": reason}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return {"id": "x", "object": "chat.completion", "model": "gpt-x", "choices": [choice]} | {
        "usage": usage,
        "created": 1,
    }


def chunks(*deltas: dict[str, Any], reason: str | None = "stop", done: bool = True) -> bytes:
    """An answer in pieces; with a reason, its last ones are the usage and the end."""
    pieces = [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    if reason:
        pieces.append(_chunk([{"index": 0, "delta": {}, "finish_reason": reason}]))
        pieces.append(_chunk([], usage={"total_tokens": 5}))
    lines = [f"data: {json.dumps(piece)}\n\n" for piece in pieces]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def _chunk(choices: list[Any], **more: Any) -> dict[str, Any]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x"}
    return {**head, "choices": choices, **more}


def call(index: int | None, id_: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    """A delta with a fragment of a call."""
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]}


def whole_call(id_: str, arguments: Any) -> dict[str, Any]:
    """A call of an answer at once."""
    return {"id": id_, "type": "function", "function": {"name": "read", "arguments": arguments}}


def failure_of(stand: Stand) -> ModelFailure:
    """The failure that comes of a query."""
    with pytest.raises(ModelFailure) as caught:
        stand.query()
    return caught.value
