"""The model behind the official `openai` SDK over Chat Completions.

The messages go into `extra_body`, which is sent unchanged. In their own parameter the SDK searches
each field for names to translate (about 45 ms a call for 299 messages, against 1 ms).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from operator import methodcaller
from typing import Any

from harness.agent.conversation.content import picture_url, text_of
from harness.agent.models import AnswerSoFar, ProviderModel, with_tools
from harness.agent.models.failures import unusable
from harness.agent.models.model_call import ModelAnswer, Query, arguments_of, function_of, respelt
from harness.core.values.messages import Block, Json, Message, Text, ToolResult, ToolSpec, ToolUse

_STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}


class _ChatAnswer(AnswerSoFar):
    """A new id begins a new call, because some gateways send every call with index 0."""

    def __init__(self) -> None:
        self._stop: str | None = None
        self._tokens: int | None = None
        self._said: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._open: dict[int, dict[str, Any]] = {}

    def read(self, value: Any) -> None:
        choices = getattr(value, "choices", None)
        if not choices or choices[0].message is None:
            raise unusable(value)
        self._take_envelope(value)
        self._take_message(choices[0].message)
        self._stop = choices[0].finish_reason

    def take(self, piece: Any) -> Iterator[str]:
        self._take_envelope(piece)
        for choice in piece.choices or ():
            said = self._take_message(choice.delta)
            self._stop = choice.finish_reason or self._stop
            self.is_complete = self._stop is not None
            if said:
                yield said

    def _take_envelope(self, value: Any) -> None:
        self.model = getattr(value, "model", None) or self.model
        usage = getattr(value, "usage", None)
        if isinstance(count := getattr(usage, "total_tokens", None), int):
            self._tokens = count

    def _take_message(self, piece: Any) -> str:
        said = getattr(piece, "content", None) or ""
        self._said.append(said)
        self._refusal.append(getattr(piece, "refusal", None) or "")
        for place, call in enumerate(getattr(piece, "tool_calls", None) or ()):
            index = getattr(call, "index", None)
            self._take_call(place if index is None else index, call)
        return said

    def _take_call(self, place: int, piece: Any) -> None:
        call, id_ = self._open.get(place), piece.id or ""
        if call is None or (id_ and call["id"] and id_ != call["id"]):
            call = self._open[place] = {"id": "", "name": "", "arguments": ""}
            self._calls.append(call)
        call["id"] = call["id"] or id_
        function = getattr(piece, "function", None)
        call["name"] = call["name"] or getattr(function, "name", None) or ""
        given = getattr(function, "arguments", None) or ""
        call["arguments"] = call["arguments"] + given if isinstance(given, str) else given

    def answer(self) -> ModelAnswer:
        refusal = "".join(self._refusal)
        text = "".join(self._said) + refusal
        blocks: list[Block] = [Text(text)] if text else []
        blocks += (ToolUse(c["id"], c["name"], arguments_of(c["arguments"])) for c in self._calls)
        stop = _STOPS.get(self._stop, self._stop) if self._stop else None
        return self.whole(blocks, "refusal" if refusal and stop else stop, self._tokens)


class OpenAIChatModel(ProviderModel):
    """A model behind an `openai.OpenAI` client."""

    api = "openai-chat"
    base_path = "/v1"
    client_of = staticmethod(methodcaller("openai"))
    endpoint = "chat.completions"
    answer_so_far = _ChatAnswer

    def _params(self, query: Query) -> dict[str, Any]:
        system: dict[str, Json] = {"role": "system", "content": query.system}
        rows = [row for message in query.messages for row in write_rows(message)]
        return {
            "model": self._model,
            "max_completion_tokens": self._max_tokens,
            "messages": [],  # the SDK would search each message for names to translate
            "extra_body": {"messages": [system, *rows]},
            **with_tools(query, _tool, {"tool_choice": "none"}),
        }

    def _opened(self, endpoint: Any, params: dict[str, Any]) -> AbstractContextManager[Any]:
        return super()._opened(endpoint, {**params, "stream_options": {"include_usage": True}})


def write_rows(message: Message) -> Iterator[dict[str, Json]]:
    """A message as rows of a request: one row for each result, and one for the other content."""
    for block in message.tool_results:
        yield {"role": "tool", "tool_call_id": block.id, "content": _result(block)}
    if message.role == "assistant":
        texts = [block.text for block in message.blocks if isinstance(block, Text)]
        calls = [_call(call) for call in message.tool_uses]
        content = "\n".join(texts) or (None if calls else "")
        yield {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}
        return
    parts = [part for block in message.blocks if (part := _part(block))]
    if parts:
        is_text = len(parts) == 1 and parts[0]["type"] == "text"
        yield {"role": message.role, "content": parts[0]["text"] if is_text else parts}


def _part(block: Block) -> dict[str, Json]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    url = picture_url(block)
    return {"type": "image_url", "image_url": {"url": url}} if url else {}


def _call(call: ToolUse) -> dict[str, Json]:
    function = {"name": respelt(call.name), "arguments": json.dumps(call.input, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _result(block: ToolResult) -> str:
    """A result as text; Chat Completions has no field for an error."""
    return ("Error: " if block.is_error else "") + text_of(block)


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {"type": "function", "function": function_of(tool)}
