"""The model behind the official `anthropic` SDK, or behind a small client without it.

The SDK repairs the arguments of a cut call; this file reads them strictly
(`model_call.arguments_of`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Self

import msgspec

from harness.agent.models import AnswerSoFar, ProviderModel, with_tools
from harness.agent.models.anthropic_blocks import read_block, write_message
from harness.agent.models.failures import APIError, unusable
from harness.agent.models.http_client import HttpClient
from harness.agent.models.model_call import ModelAnswer, Query, arguments_of
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class _AnthropicAnswer(AnswerSoFar):
    def __init__(self) -> None:
        self._message: Any = None
        self._inputs: dict[int, str] = {}
        self._has_ended = False

    def read(self, value: Any) -> None:
        if getattr(value, "content", None) is None:
            raise unusable(value)
        self._message = value

    def take(self, piece: Any) -> Iterator[str]:
        match piece.type:
            case "message_start":
                self.model = piece.message.model
            case "message_stop":
                self._has_ended = True
            case "content_block_delta" if piece.delta.type == "input_json_delta":
                before = self._inputs.get(piece.index, "")
                self._inputs[piece.index] = before + piece.delta.partial_json
            case "content_block_delta" if piece.delta.type == "text_delta":
                yield piece.delta.text

    def end(self, stream: Any) -> None:
        self._message = stream.get_final_message()
        self.is_complete = self._has_ended and self._message.stop_reason is not None

    def answer(self) -> ModelAnswer:
        self.model = self._message.model
        blocks = [read_block(block.to_dict()) for block in self._message.content]
        for index, text in self._inputs.items():
            block = blocks[index]
            if isinstance(block, ToolUse) and text:
                blocks[index] = msgspec.structs.replace(block, input=arguments_of(text))
        usage = getattr(self._message, "usage", None)
        counts = [getattr(usage, name, None) for name in _COUNTS]
        known = [count for count in counts if isinstance(count, int)]
        return self.whole(blocks, self._message.stop_reason, sum(known) if known else None)


class AnthropicModel(ProviderModel):
    """A model behind an `anthropic.Anthropic` client."""

    api = "anthropic"
    endpoint = "messages"
    text_results = False
    answer_so_far = _AnthropicAnswer

    @staticmethod
    def client_of(brief: Brief) -> Any:
        """The SDK's client; with the option `client=plain`, an in-process client without the
        SDK."""
        if brief.options.get("client") == "plain":
            return PlainClient(brief.transport, brief.base_url)
        return brief.anthropic()

    def _params(self, query: Query) -> dict[str, Any]:
        return {
            "model": self._model,
            "max_tokens": self._max_tokens,
            "system": query.system,
            "messages": [write_message(message) for message in query.messages],
            **with_tools(query, msgspec.to_builtins, {"tool_choice": {"type": "none"}}),
        }

    def _opened(self, endpoint: Any, params: dict[str, Any]) -> AbstractContextManager[Any]:
        stream: AbstractContextManager[Any] = endpoint.stream(**params)
        return stream


class Attributes(dict[str, Any]):
    """An object of an answer, whose keys are attributes at every level."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def to_dict(self) -> dict[str, Any]:
        """The object as it was received."""
        return self


class PlainClient(HttpClient):
    """The part of `anthropic.Anthropic` that `AnthropicModel` uses, without streams.

    In process, the SDK takes most of the time of a model call. For campaigns of many runs, this
    client sends the same requests and raises errors with the same words.
    """

    streams = False

    @property
    def messages(self) -> Self:
        """The endpoint: the client itself."""
        return self

    def create(self, *, extra_headers: Mapping[str, str] | None = None, **params: Any) -> Any:
        """Create a message. Raises APIError or APIConnectionError after the last attempt, and the
        error of `json` for an invalid body."""
        response = self.post("/v1/messages", params, extra_headers or {})
        if "json" not in response.headers.get("content-type", ""):
            return response.text
        return json.loads(response.content, object_hook=Attributes)

    def refused(self, response: Any) -> APIError:
        """The error of a response, with the words of the SDK."""
        try:
            body = json.loads(response.content)
            kind = body["error"]["type"]
        except (ValueError, KeyError, TypeError):
            body, kind = response.text, None
        text = f"Error code: {response.status_code} - {body}"
        return APIError(text, response.status_code, kind, response.headers)
