"""The model behind the official `openai` SDK over Chat Completions.

The SDK accepts a stream without its end as complete; this file requires a stop reason. The messages
go into `extra_body`, which is sent unchanged. In their own parameter the SDK searches each field
for names to translate (about 45 ms a call for 299 messages, against 1 ms).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from harness.agent.conversation.content import clean, picture_url, text_of
from harness.agent.guards.guard_protocol import UNPARSED
from harness.agent.models.failures import (
    SYNTHETIC,
    FailureKind,
    ModelFailure,
    classify,
    classify_answer,
    raised_as_failures,
    stream_pieces,
    unusable,
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
from harness.core.values.messages import Block, Json, Message, Text, ToolResult, ToolSpec, ToolUse

_STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}

_REQUEST_ERRORS = frozenset({"invalid_request_error", "insufficient_quota"})
"""Types of a permanent error inside a stream."""


class OpenAIChatModel:
    """A model behind an `openai.OpenAI` client, streamed or not."""

    api = "openai-chat"
    usual_model = MODEL
    base_path = "/v1"
    text_results = True

    def __init__(
        self, client: Any, stream: bool, model: str = MODEL, max_tokens: int = MAX_TOKENS
    ) -> None:
        self._client, self._stream = with_read_timeout(client), stream
        self._settings = {"model": model, "max_completion_tokens": max_tokens}

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
            return ask(client.chat.completions, self._params(query), show)

    def _params(self, query: Query) -> dict[str, Any]:
        system: dict[str, Json] = {"role": "system", "content": query.system}
        rows = [row for message in query.messages for row in write_rows(message)]
        tools = [_tool(tool) for tool in query.tools]
        return {
            **self._settings,
            "messages": [],  # the SDK would search each message for names to translate
            "extra_body": {"messages": [system, *rows]},
            **({"tools": tools} if tools else {}),
            **({"tool_choice": "none"} if tools and query.tools_withdrawn else {}),
            "extra_headers": {"x-harness-purpose": query.purpose},
        }

    def _plain(
        self, completions: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        completion = completions.create(**params)
        choices = getattr(completion, "choices", None)
        if not choices or choices[0].message is None:
            raise unusable(completion)
        if choices[0].finish_reason is None:
            raise ModelFailure("broken_stream", "the answer does not say why it ended")
        heard = _ChatAnswer()
        heard.take_envelope(completion)
        heard.take(choices[0].message)
        answer = heard.answer(choices[0].finish_reason)
        if show is not None and answer.message.text:
            show(answer.message.text)
        return answer

    def _streamed(
        self, completions: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        heard, stop = _ChatAnswer(), None
        options = {"stream": True, "stream_options": {"include_usage": True}}
        for chunk in stream_pieces(
            failing_on_silence(completions.create(**params, **options)), _kind
        ):
            heard.take_envelope(chunk)
            for choice in chunk.choices or ():
                said = heard.take(choice.delta)
                stop = choice.finish_reason or stop
                if said and show is not None and heard.model != SYNTHETIC:
                    show(clean(said))
        if stop is None:
            raise ModelFailure("broken_stream", "the answer ended before it was complete")
        return heard.answer(stop)


class _ChatAnswer:
    """An answer so far. A new id begins a new call, because some gateways send every call with
    index 0."""

    def __init__(self) -> None:
        self.model = ""
        self._tokens: int | None = None
        self._said: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._open: dict[int, dict[str, Any]] = {}

    def take_envelope(self, value: Any) -> None:
        self.model = getattr(value, "model", None) or self.model
        usage = getattr(value, "usage", None)
        if isinstance(count := getattr(usage, "total_tokens", None), int):
            self._tokens = count

    def take(self, piece: Any) -> str:
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

    def answer(self, stop: str) -> ModelAnswer:
        """The complete answer. Raises ModelFailure if a wrapper wrote it."""
        refusal = "".join(self._refusal)
        text = "".join(self._said) + refusal
        failed = classify_answer(self.model, self._tokens, text)
        if failed is not None:
            raise ModelFailure(failed, text)
        blocks: list[Block] = [Text(text)] if text else []
        blocks += (ToolUse(c["id"], c["name"], _input(c["arguments"])) for c in self._calls)
        return answer_of(blocks, "refusal" if refusal else _STOPS.get(stop, stop), self._tokens)


def _input(said: Json) -> Json:
    """The arguments of a call; many gateways send an empty text for no arguments."""
    if said is None or said == "":
        return {}
    if isinstance(said, str):
        return arguments_of(said)
    return said if isinstance(said, dict) else {UNPARSED: json.dumps(said)}


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
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema or {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": function}


def _kind(error: Exception) -> FailureKind | None:
    """The kind of an error; an error inside a stream has no status and no specific class."""
    kind = classify(error)
    if kind == "permanent" and type(error).__name__ == "APIError":
        return kind if getattr(error, "type", None) in _REQUEST_ERRORS else "broken_stream"
    return kind
