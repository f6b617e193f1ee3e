"""The model behind the Gemini API, over plain HTTP.

The official SDK accepts a stream without its end as complete, and has no limit on its waits. So
this file reads the answers, and each answer must name its stop reason. From Gemini 3 on, the first
call of an answer has a signature that goes back with it. A call without one gets the documented
placeholder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

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
from harness.agent.models.gemini_client import GeminiClient
from harness.agent.models.http_retries import APIError
from harness.agent.models.model_call import MAX_TOKENS, ModelAnswer, Query, answer_of
from harness.agent.models.timeouts import failing_on_silence
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
    "SAFETY": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "BLOCKLIST": "refusal",
    "SPII": "refusal",
    "RECITATION": "refusal",
}
_REQUEST_ERRORS = frozenset(
    {"FAILED_PRECONDITION", "INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED"}
)
"""Words of a permanent error inside a stream."""

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_.:-]")


class _Events:
    """The chunks of a stream; a line that is not an event counts as damaged."""

    def __init__(self, response: Any) -> None:
        self.response = response

    def __iter__(self) -> Iterator[dict[str, Any]]:
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


class _GeminiAnswer:
    """An answer so far."""

    def __init__(self) -> None:
        self.model, self.stop, self._id = "", "", ""
        self._tokens: int | None = None
        self._blocks: list[Block] = []

    def take(self, chunk: dict[str, Any]) -> str:
        """Add a chunk; return its text."""
        self.model = chunk.get("modelVersion") or self.model
        self._id = chunk.get("responseId") or self._id
        count = (chunk.get("usageMetadata") or {}).get("totalTokenCount")
        self._tokens = count if isinstance(count, int) else self._tokens
        if (chunk.get("promptFeedback") or {}).get("blockReason"):
            self.stop = "SAFETY"
        said = ""
        for candidate in (chunk.get("candidates") or ())[:1]:
            self.stop = candidate.get("finishReason") or self.stop
            for part in (candidate.get("content") or {}).get("parts") or ():
                said += self._part(part)
        return said

    def _part(self, part: dict[str, Any]) -> str:
        signature = part.get(SIGNATURE)
        extra = {SIGNATURE: signature} if signature else {}
        call, text = part.get("functionCall"), part.get("text")
        last = self._blocks[-1] if self._blocks else None
        if isinstance(call, dict):
            given = call.get("args")
            name, id_ = call.get("name") or "", call.get("id") or self._new_id()
            self._blocks.append(ToolUse(id_, name, _input(given), extra))
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

    def _new_id(self) -> str:
        """The id for a call without one, as older models send."""
        return f"{self._id or 'call'}_{len(self._blocks)}"

    def answer(self) -> ModelAnswer:
        """The complete answer. Raises ModelFailure for an answer without its end, or from a
        wrapper."""
        text = "".join(block.text for block in self._blocks if isinstance(block, Text))
        failed = classify_answer(self.model, self._tokens, text)
        if failed is not None:
            raise ModelFailure(failed, text)
        if not self.stop:
            raise ModelFailure("broken_stream", "the answer does not say why it ended")
        called = any(isinstance(block, ToolUse) for block in self._blocks)
        stop = "tool_use" if called and self.stop == "STOP" else _STOPS.get(self.stop, self.stop)
        return answer_of(self._blocks, stop, self._tokens)


def _input(given: Json) -> Json:
    """The arguments of a call; a value that is not an object is wrapped, and the call does not
    run."""
    if given is None or given == "":
        return {}
    return given if isinstance(given, dict) else {UNPARSED: json.dumps(given)}


class GeminiModel:
    """A model behind the Gemini API, streamed or not."""

    api = "gemini"
    usual_model = "gemini-3.7-flash"
    base_path = ""
    text_results = True

    def __init__(
        self, client: Any, stream: bool, model: str = usual_model, max_tokens: int = MAX_TOKENS
    ) -> None:
        self._client, self._stream, self._model = client, stream, model
        self._config = {"maxOutputTokens": max_tokens}

    @staticmethod
    def client_of(brief: Brief) -> Any:
        """The client."""
        return GeminiClient(brief)

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer.

        Raises ModelFailure for every error of the API, the HTTP library or malformed bytes.
        """
        ask = self._streamed if self._stream and query.timeout_s is None else self._plain
        client = with_timeout(self._client, query.timeout_s)
        with raised_as_failures(_kind):
            body = msgspec.json.encode(self._body(query))
            return ask(client, body, {"x-harness-purpose": query.purpose}, show)

    def _body(self, query: Query) -> dict[str, Json]:
        functions = [_function(tool) for tool in query.tools]
        withdrawn = {"functionCallingConfig": {"mode": "NONE"}}
        return {
            "contents": list(write_contents(query.messages)),
            "systemInstruction": {"parts": [{"text": query.system}]},
            "generationConfig": self._config,
            **({"tools": [{"functionDeclarations": functions}]} if functions else {}),
            **({"toolConfig": withdrawn} if functions and query.tools_withdrawn else {}),
        }

    def _plain(
        self, client: Any, body: bytes, headers: dict[str, str], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        path = f"/v1beta/models/{self._model}:generateContent"
        response = client.post(path, body, headers, stream=False)
        if "json" not in response.headers.get("content-type", ""):
            raise unusable(response.text)
        value = json.loads(response.content)
        if not isinstance(value, dict) or not {"candidates", "promptFeedback"} & value.keys():
            raise unusable(response.text)
        heard = _GeminiAnswer()
        said = heard.take(value)
        answer = heard.answer()
        if show is not None and said:
            show(clean(said))
        return answer

    def _streamed(
        self, client: Any, body: bytes, headers: dict[str, str], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        path = f"/v1beta/models/{self._model}:streamGenerateContent?alt=sse"
        response = client.post(path, body, headers, stream=True)
        try:
            if "event-stream" not in response.headers.get("content-type", ""):
                raise unusable(response.read().decode("utf-8", "replace"))
            heard = _GeminiAnswer()
            for chunk in stream_pieces(failing_on_silence(_Events(response)), _kind):
                said = heard.take(chunk)
                if said and show is not None and heard.model != SYNTHETIC:
                    show(clean(said))
        finally:
            response.close()
        return heard.answer()


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
    schema = tool.input_schema or {"type": "object", "properties": {}}
    said = {"name": tool.name, "description": tool.description}
    return {**said, "parametersJsonSchema": schema}


def _kind(error: Exception) -> FailureKind | None:
    """The kind of an error; an error inside a stream carries a status word of the API."""
    kind = classify(error)
    if isinstance(error, APIError) and error.status_code == 200 and kind != "overflow":
        return "permanent" if error.type in _REQUEST_ERRORS else "broken_stream"
    return kind
