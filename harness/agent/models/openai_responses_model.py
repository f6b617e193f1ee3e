"""The model behind the official `openai` SDK over the Responses API.

The provider stores nothing: the agent keeps the history and sends reasoning back encrypted. The SDK
yields an error, a failed response and a bare end of stream without raising, so an answer needs its
terminal event. The items go into `extra_body`; `openai_chat_model` gives the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from harness.agent.conversation.content import clean, picture_url, text_of
from harness.agent.models.failures import (
    SYNTHETIC,
    FailureKind,
    ModelFailure,
    classify,
    classify_answer,
    raised_as_failures,
    stream_pieces,
    with_timeout,
)
from harness.agent.models.model_call import (
    MAX_TOKENS,
    MODEL,
    ModelAnswer,
    Query,
    answer_of,
    arguments_of,
    respelt,
)
from harness.agent.models.timeouts import failing_on_silence, with_read_timeout
from harness.core.values.brief import Brief
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

_TOO_LONG = "context_length_exceeded"
_REQUEST_ERRORS = frozenset({"insufficient_quota", "invalid_prompt", "invalid_request_error"})
"""Names of a permanent error inside a stream."""

_OWN = frozenset({"compaction", "reasoning"})
"""Kinds of items, beside calls, that are sent back unchanged; items of another API are not."""


class OpenAIResponsesModel:
    """A model behind an `openai.OpenAI` client, streamed or not."""

    api = "openai-responses"
    usual_model = MODEL
    base_path = "/v1"
    text_results = True

    def __init__(
        self, client: Any, stream: bool, model: str = MODEL, max_tokens: int = MAX_TOKENS
    ) -> None:
        self._client, self._stream = with_read_timeout(client), stream
        self._settings = {"model": model, "max_output_tokens": max_tokens, "store": False}

    @staticmethod
    def client_of(brief: Brief) -> Any:
        """The SDK's client."""
        return brief.openai()

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer.

        Raises ModelFailure for every error of the SDK, the HTTP library or malformed bytes.
        """
        ask = self._streamed if self._stream and query.timeout_s is None else self._plain
        client = with_timeout(self._client, query.timeout_s)
        with raised_as_failures(_kind):
            return ask(client.responses, self._params(query), show)

    def _params(self, query: Query) -> dict[str, Any]:
        items = [item for message in query.messages for item in write_items(message)]
        tools = [_tool(tool) for tool in query.tools]
        return {
            **self._settings,
            "instructions": query.system,
            "include": ["reasoning.encrypted_content"],
            "input": [],  # the SDK would look through each for names to translate
            "extra_body": {"input": items},
            **({"tools": tools} if tools else {}),
            **({"tool_choice": "none"} if tools and query.tools_withdrawn else {}),
            "extra_headers": {"x-harness-purpose": query.purpose},
        }

    def _plain(
        self, responses: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        answer = _answer(responses.create(**params))
        if show is not None and answer.message.text:
            show(answer.message.text)
        return answer

    def _streamed(
        self, responses: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        with responses.create(**params, stream=True) as stream:
            for event in stream_pieces(failing_on_silence(stream), _kind):
                response = getattr(event, "response", None)
                if getattr(response, "model", None) == SYNTHETIC:
                    show = None
                if event.type in _SHOWN and show is not None:
                    show(clean(event.delta))
                if event.type == "error":
                    raise _failure(event.code, event.message)
                if event.type in _TERMINAL:
                    return _answer(response)
        raise ModelFailure("broken_stream", "the answer ended before it was complete")


def _answer(response: Any) -> ModelAnswer:
    """The answer in a response. Raises ModelFailure if it failed, or if a wrapper wrote it."""
    status, output = getattr(response, "status", None), getattr(response, "output", None)
    if status == "failed":
        raise _failure(response.error and response.error.code, response.error or "failed")
    if status not in ("completed", "incomplete") or output is None:
        text = str(response if isinstance(response, str) else response.to_dict())[:500]
        kind = None if output else classify(ValueError(text))
        raise ModelFailure(kind or "broken_stream", text)
    items = [item.to_dict() for item in output]
    blocks = [block for item in items for block in read_item(item)]
    tokens = getattr(response.usage, "total_tokens", None)
    answer = answer_of(blocks, _stop(response, items, blocks), tokens)
    failed = classify_answer(response.model, tokens, answer.message.text)
    if failed is not None:
        raise ModelFailure(failed, answer.message.text)
    return answer


def _stop(response: Any, items: list[dict[str, Any]], blocks: list[Block]) -> str:
    if response.status == "incomplete":
        reason = getattr(response.incomplete_details, "reason", None) or "incomplete"
        return _REASONS.get(reason, reason)
    if any(isinstance(block, ToolUse) for block in blocks):
        return "tool_use"
    parts = [part for item in items for part in item.get("content") or ()]
    return "refusal" if any(part.get("type") == "refusal" for part in parts) else "end_turn"


def _failure(code: str | None, message: object) -> ModelFailure:
    """The failure in an event or a failed response, which came with status 200."""
    text = f"{code}: {getattr(message, 'message', message)}"
    kind = classify(ValueError(text))
    if kind != "overflow":
        kind = "permanent" if code in _REQUEST_ERRORS else "broken_stream"
    return ModelFailure(kind, text)


def _kind(error: Exception) -> FailureKind | None:
    """The kind of an error; an error inside a stream has no status and no specific class."""
    if getattr(error, "code", None) == _TOO_LONG:
        return "overflow"
    kind = classify(error)
    if kind == "permanent" and type(error).__name__ == "APIError":
        return kind if getattr(error, "type", None) in _REQUEST_ERRORS else "broken_stream"
    return kind


def read_item(item: dict[str, Any]) -> Iterator[Block]:
    """An item of an answer as blocks; an unknown item is kept with all its fields."""
    match item:
        case {"type": "message", "content": list(parts)}:
            for part in parts:
                yield Text(part.get("text") or part.get("refusal") or "")
        case {"type": "function_call", "call_id": str(id_), "name": str(name)}:
            text = item.get("arguments") or ""
            yield ToolUse(id_, name, arguments_of(text) if text else {})
        case {"type": "reasoning", "encrypted_content": str(hidden)}:
            text = "\n".join(part.get("text") or "" for part in item.get("summary") or ())
            yield Thinking(text, hidden)
        case {"type": str(kind)}:
            yield Opaque(kind, item)


def write_items(message: Message) -> Iterator[dict[str, Json]]:
    """A message as items of a request: one item for each call, each result and each run of
    texts."""
    parts: list[dict[str, Json]] = []
    for block in message.blocks:
        if (part := _part(block, message.role)) is not None:
            parts.append(part)
            continue
        if parts:
            yield {"role": message.role, "content": parts}
            parts = []
        yield from _item(block)
    if parts:
        yield {"role": message.role, "content": parts}


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
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema or {"type": "object", "properties": {}},
        "strict": False,
    }
