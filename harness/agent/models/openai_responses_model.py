"""The model behind the official `openai` SDK over the Responses API.

The provider stores nothing: the agent keeps the history and sends reasoning back encrypted. The SDK
yields an error, a failed response and a bare end of stream without raising, so an answer needs its
terminal event. The items go into `extra_body`; `openai_chat_model` gives the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from operator import methodcaller
from typing import Any

from harness.agent.conversation.content import picture_url, text_of
from harness.agent.models import AnswerSoFar, ProviderModel, with_tools
from harness.agent.models.failures import APIError, unusable
from harness.agent.models.model_call import ModelAnswer, Query, arguments_of, function_of, respelt
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)

_REASONS = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}

_TERMINAL = ("response.completed", "response.incomplete", "response.failed")
_SHOWN = ("response.output_text.delta", "response.refusal.delta")

_OWN = frozenset({"compaction", "reasoning"})
"""Kinds of items, beside calls, that are sent back unchanged; items of another API are not."""


class _ResponsesAnswer(AnswerSoFar):
    def __init__(self) -> None:
        self._response: Any = None

    def read(self, value: Any) -> None:
        self._response = value

    def take(self, piece: Any) -> Iterator[str]:
        response = getattr(piece, "response", None)
        self.model = getattr(response, "model", None) or self.model
        if piece.type in _SHOWN:
            yield piece.delta
        if piece.type == "error":
            raise _error(piece.code, piece.message)
        if piece.type in _TERMINAL:
            self._response, self.is_complete, self.is_over = response, True, True

    def answer(self) -> ModelAnswer:
        response = self._response
        status, output = getattr(response, "status", None), getattr(response, "output", None)
        if status == "failed":
            raise _error(response.error and response.error.code, response.error or "failed")
        if status not in ("completed", "incomplete") or output is None:
            raise unusable(response)
        self.model = response.model
        items = [item.to_dict() for item in output]
        blocks = [block for item in items for block in read_item(item)]
        tokens = getattr(response.usage, "total_tokens", None)
        return self.whole(blocks, _stop(response, items, blocks), tokens)


def _stop(response: Any, items: list[dict[str, Any]], blocks: list[Block]) -> str:
    if response.status == "incomplete":
        reason = getattr(response.incomplete_details, "reason", None) or "incomplete"
        return _REASONS.get(reason, reason)
    if any(isinstance(block, ToolUse) for block in blocks):
        return "tool_use"
    parts = [part for item in items for part in item.get("content") or ()]
    return "refusal" if any(part.get("type") == "refusal" for part in parts) else "end_turn"


def _error(code: str | None, message: object) -> APIError:
    """The error in an event or a failed response, which came with status 200."""
    return APIError(f"{code}: {getattr(message, 'message', message)}", 200, code, {})


class OpenAIResponsesModel(ProviderModel):
    """A model behind an `openai.OpenAI` client."""

    api = "openai-responses"
    base_path = "/v1"
    client_of = staticmethod(methodcaller("openai"))
    endpoint = "responses"
    answer_so_far = _ResponsesAnswer

    def _params(self, query: Query) -> dict[str, Any]:
        items = [item for message in query.messages for item in write_items(message)]
        return {
            "model": self._model,
            "max_output_tokens": self._max_tokens,
            "store": False,
            "instructions": query.system,
            "include": ["reasoning.encrypted_content"],
            "input": [],  # the SDK would look through each for names to translate
            "extra_body": {"input": items},
            **with_tools(query, _tool, {"tool_choice": "none"}),
        }


def read_item(item: dict[str, Any]) -> Iterator[Block]:
    """An item of an answer as blocks; an unknown item is kept with all its fields."""
    match item:
        case {"type": "message", "content": list(parts)}:
            for part in parts:
                yield Text(part.get("text") or part.get("refusal") or "")
        case {"type": "function_call", "call_id": str(id_), "name": str(name)}:
            yield ToolUse(id_, name, arguments_of(item.get("arguments")))
        case {"type": "reasoning", "encrypted_content": str(hidden)}:
            text = "\n".join(part.get("text") or "" for part in item.get("summary") or ())
            yield Thinking(text, hidden)
        case {"type": str(kind)}:
            yield Opaque(kind, item)


def write_items(message: Message) -> Iterator[dict[str, Json]]:
    """A message as items of a request: one item for each call, each result and each run of
    texts."""
    read = ((block, _part(block, message.role)) for block in message.blocks)
    for is_item, run in groupby(read, lambda pair: pair[1] is None):
        if is_item:
            yield from (item for block, _ in run for item in _item(block))
        else:
            yield {"role": message.role, "content": [part for _, part in run]}


def _part(block: Block, role: str) -> dict[str, Json] | None:
    if isinstance(block, Text):
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": kind, "text": block.text}
    url = picture_url(block)
    return {"type": "input_image", "image_url": url} if url else None


def _item(block: Block) -> Iterator[dict[str, Json]]:
    match block:
        case Thinking(text, signature, redacted) if hidden := signature or redacted:
            summary = [{"type": "summary_text", "text": text}] if text else []
            yield {"type": "reasoning", "summary": summary, "encrypted_content": hidden}
        case ToolUse(id_, name, given):
            call = {"type": "function_call", "call_id": id_, "name": respelt(name)}
            yield {**call, "arguments": json.dumps(given, ensure_ascii=False)}
        case ToolResult(id_, _, is_error):
            item = {"type": "function_call_output", "call_id": id_, "output": text_of(block)}
            yield {**item, "status": "incomplete"} if is_error else item
        case Opaque(kind, value) if kind.endswith("_call") or kind in _OWN:
            yield dict(value)


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {"type": "function", **function_of(tool), "strict": False}
