"""The model behind the Gemini API, over plain HTTP.

The official SDK accepts a stream without its end as complete, and has no limit on its waits. So
this file has its own client, and each answer must name its stop reason. From Gemini 3 on, the first
call of an answer has a signature that goes back with it. A call without one gets the documented
placeholder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Self

from harness.agent.conversation.content import picture_url, text_of
from harness.agent.models import AnswerSoFar, ProviderModel, with_tools
from harness.agent.models.failures import APIError, unusable
from harness.agent.models.http_client import HttpClient
from harness.agent.models.model_call import ModelAnswer, Query, arguments_of, schema_of
from harness.core.values.brief import Brief
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)

SIGNATURE, STAND_IN = "thoughtSignature", "skip_thought_signature_validator"

_STOPS = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    **dict.fromkeys(("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"), "refusal"),
}

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_.:-]")
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


class GeminiClient(HttpClient):
    """A client of the Gemini API, with the methods of an SDK that `GeminiModel` uses.

    The wait before a retry comes from `retry-after`, or from `RetryInfo` in the error's details.
    """

    def __init__(self, brief: Brief) -> None:
        super().__init__(brief.transport, brief.base_url, {"x-goog-api-key": brief.api_key})

    @property
    def models(self) -> Self:
        """The endpoint: the client itself."""
        return self

    def create(
        self, *, model: str, extra_headers: Mapping[str, str], stream: bool = False, **body: Any
    ) -> Any:
        """Make content: the answer as a dict, or its chunks.

        Raises APIError or APIConnectionError after the last attempt, ModelFailure for a page, and
        ValueError for an invalid body.
        """
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        path = f"/v1beta/models/{model}:{method}"
        response = self.post(path, body, extra_headers, stream=stream)
        if stream:
            return _Chunks(response)
        if "json" not in response.headers.get("content-type", ""):
            raise unusable(response.text)
        value = json.loads(response.content)
        if not isinstance(value, dict) or not {"candidates", "promptFeedback"} & value.keys():
            raise unusable(response.text)
        return value

    def refused(self, response: Any) -> APIError:
        """The error of a response, with its status word."""
        word, delay = _word_and_delay(response.text)
        headers = dict(response.headers)
        if delay and "retry-after" not in headers:
            headers["retry-after"] = delay
        text = f"Error code: {response.status_code} - {response.text}"
        return APIError(text, response.status_code, word, headers)


def _word_and_delay(text: str) -> tuple[str | None, str]:
    """The status word of an error, and the seconds that its `RetryInfo` asks for."""
    try:
        body = json.loads(text)
        # A stream that is not of server-sent events is a list, also when it holds an error.
        error = (body[0] if isinstance(body, list) else body)["error"]
        details = error.get("details") or ()
        delays = (_DELAY.fullmatch(str(detail.get("retryDelay"))) for detail in details)
        return error.get("status"), next((found[1] for found in delays if found), "")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None, ""


class _Chunks:
    """The chunks of a stream; a line that is not an event counts as damaged."""

    def __init__(self, response: Any) -> None:
        self.response, self.close = response, response.close

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if "event-stream" not in self.response.headers.get("content-type", ""):
            raise unusable(self.response.read().decode("utf-8", "replace"))
        held = b""
        for piece in self.response.iter_bytes():
            held += piece
            *lines, held = re.split(rb"\r\n|\n|\r(?!\Z)", held)
            yield from map(_chunk, filter(_says, lines))
        if _says(held):
            yield _chunk(held)


def _says(line: bytes) -> bool:
    return bool(line.strip()) and not line.startswith((b":", b"event:", b"id:", b"retry:"))


def _chunk(line: bytes) -> dict[str, Any]:
    chunk = json.loads(line.removeprefix(b"data:").decode())
    if not isinstance(chunk, dict):
        raise ValueError(f"no chunk: {line[:80]!r}")
    if error := chunk.get("error"):
        word = error.get("status") if isinstance(error, dict) else None
        raise APIError(str(error), 200, word, {})
    return chunk


class _GeminiAnswer(AnswerSoFar):
    is_complete = True  # an answer says why it ended, so `whole` asks for that alone

    def __init__(self) -> None:
        self._stop, self._id = "", ""
        self._tokens: int | None = None
        self._blocks: list[Block] = []

    def read(self, value: Any) -> None:
        for _ in self.take(value):
            pass

    def take(self, piece: Any) -> Iterator[str]:
        self.model = piece.get("modelVersion") or self.model
        self._id = piece.get("responseId") or self._id
        count = (piece.get("usageMetadata") or {}).get("totalTokenCount")
        self._tokens = count if isinstance(count, int) else self._tokens
        if (piece.get("promptFeedback") or {}).get("blockReason"):
            self._stop = "SAFETY"
        said = ""
        for candidate in (piece.get("candidates") or ())[:1]:
            self._stop = candidate.get("finishReason") or self._stop
            for part in (candidate.get("content") or {}).get("parts") or ():
                said += self._part(part)
        if said:
            yield said

    def _part(self, part: dict[str, Any]) -> str:
        signature = part.get(SIGNATURE)
        extra = {SIGNATURE: signature} if signature else {}
        call, text = part.get("functionCall"), part.get("text")
        last = self._blocks[-1] if self._blocks else None
        if isinstance(call, dict):
            # Older models send no id.
            id_ = call.get("id") or f"{self._id or 'call'}_{len(self._blocks)}"
            given = arguments_of(call.get("args"))
            self._blocks.append(ToolUse(id_, call.get("name") or "", given, extra))
        elif isinstance(text, str) and part.get("thought"):
            before = self._blocks.pop().text if isinstance(last, Thinking) else ""  # type: ignore[union-attr]
            self._blocks.append(Thinking(before + text, signature or ""))
        elif isinstance(text, str) and (text or extra):
            if isinstance(last, Text):
                self._blocks[-1] = Text(last.text + text, {**last.extra, **extra})
            else:
                self._blocks.append(Text(text, extra))
            return text
        return ""

    def answer(self) -> ModelAnswer:
        called = any(isinstance(block, ToolUse) for block in self._blocks)
        stop = "tool_use" if called and self._stop == "STOP" else self._stop
        return self.whole(self._blocks, _STOPS.get(stop, stop), self._tokens)


class GeminiModel(ProviderModel):
    """A model behind the Gemini API."""

    api = "gemini"
    usual_model = "gemini-3.7-flash"
    client_of = staticmethod(GeminiClient)
    endpoint = "models"
    answer_so_far = _GeminiAnswer

    def _params(self, query: Query) -> dict[str, Any]:
        withdrawn = {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}
        params = {
            "model": self._model,
            "contents": list(write_contents(query.messages)),
            "systemInstruction": {"parts": [{"text": query.system}]},
            "generationConfig": {"maxOutputTokens": self._max_tokens},
            **with_tools(query, _function, withdrawn),
        }
        if "tools" in params:
            params["tools"] = [{"functionDeclarations": params["tools"]}]
        return params


def write_contents(messages: tuple[Message, ...]) -> Iterator[dict[str, Json]]:
    """Messages as contents; results are a separate content, as the API requires."""
    names: dict[str, str] = {}
    for message in messages:
        names |= {call.id: _name(call.name) for call in message.tool_uses}
        results = [_result(block, names) for block in message.tool_results]
        if results:
            yield {"role": "user", "parts": results}
        parts = [part for block in message.blocks if (part := _part(block))]
        if parts:
            yield {
                "role": "model" if message.role == "assistant" else "user",
                "parts": _signed(parts),
            }


def _signed(parts: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The parts, with a signature on the first call."""
    first = next((part for part in parts if "functionCall" in part), None)
    if first is not None:
        first.setdefault(SIGNATURE, STAND_IN)
    return parts


def _part(block: Block) -> dict[str, Json]:
    if isinstance(block, Text):
        signed = {n: v for n, v in block.extra.items() if n == SIGNATURE}
        return {"text": block.text, **signed}
    if isinstance(block, ToolUse):
        signed = {n: v for n, v in block.extra.items() if n == SIGNATURE}
        call = {"id": block.id, "name": _name(block.name), "args": block.input}
        return {"functionCall": call, **signed}
    url = picture_url(block)
    if not url.startswith("data:"):
        return {"fileData": {"fileUri": url}} if url else {}
    media, _, data = url.removeprefix("data:").partition(";base64,")
    return {"inlineData": {"mimeType": media, "data": data}}


def _name(name: str) -> str:
    """A tool name; an invalid name that the model made up is rewritten."""
    return _NOT_IN_NAMES.sub("_", name)[:64] or "_"


def _result(block: ToolResult, names: Mapping[str, str]) -> dict[str, Json]:
    response = {"error" if block.is_error else "output": text_of(block)}
    named = {"id": block.id, "name": names.get(block.id, "_")}
    return {"functionResponse": {**named, "response": response}}


def _function(tool: ToolSpec) -> dict[str, Json]:
    said = {"name": tool.name, "description": tool.description}
    return {**said, "parametersJsonSchema": schema_of(tool)}
