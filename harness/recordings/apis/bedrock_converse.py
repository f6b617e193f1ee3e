"""Bedrock Converse, Amazon's one API for all models: the only key of a block names its type.

In a stream, a text block needs no start event; an input arrives as fragments of JSON text. Source:
Amazon Bedrock API reference, ConverseStreamOutput.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.transition.ports import Parsed
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
from harness.core.values.plans import ApiError
from harness.providers.shared import json_fields as f
from harness.providers.shared.event_stream import named_events
from harness.providers.shared.json_fields import RecordedApi, RecordedRequest


def _request(value: dict[str, Json]) -> RecordedRequest | None:
    if not isinstance(value.get("messages"), list):
        return None
    config = f.mapping(value.get("inferenceConfig"))
    return RecordedRequest(
        messages=tuple(_messages(f.objects(value["messages"]))),
        system=f.joined(f.text(part.get("text")) for part in f.objects(value.get("system"))),
        tools=tuple(_tools(f.mapping(value.get("toolConfig")).get("tools"))),
        max_tokens=f.whole(config.get("maxTokens")),
    )


def _tools(declared: Json) -> Iterator[ToolSpec]:
    for tool in f.objects(declared):
        if spec := f.mapping(tool.get("toolSpec")):
            schema = f.mapping(spec.get("inputSchema")).get("json")
            yield f.tool({**spec, "schema": schema}, "schema")


def _messages(values: Iterable[dict[str, Json]]) -> Iterator[Message]:
    return map(_message, values)


def _message(value: dict[str, Json]) -> Message:
    blocks = tuple(_block(block) for block in f.objects(value.get("content")))
    return Message(f.text(value.get("role")) or "user", blocks)


def _block(block: dict[str, Json]) -> Block:
    match block:
        case {"text": str(text)}:
            return Text(text)
        case {"toolUse": {"type": "server_tool_use"}}:
            return Opaque("server_tool_use", block)
        case {"toolUse": {"toolUseId": str(id_), "name": str(name), **rest}}:
            return ToolUse(id_, name, rest.get("input")) if name.strip() else _unread(block)
        case {"toolUse": _}:
            return _unread(block)
        case {"toolResult": {"toolUseId": str(id_), **rest}}:
            parts = tuple(_part(part) for part in f.objects(rest.get("content")))
            return ToolResult(id_, parts, rest.get("status") == "error")
        case {"reasoningContent": {"reasoningText": {"text": str(text), **rest}}}:
            return Thinking(text, f.text(rest.get("signature")))
    return Opaque(next(iter(block), ""), block)


def _unread(block: dict[str, Json]) -> Opaque:
    reason = "a call has no name or no id: none stands in toolUse.name or toolUse.toolUseId"
    return Opaque(f.UNREAD_CALL, {"reason": reason, "call": block})


def _part(part: dict[str, Json]) -> Text | Opaque:
    if isinstance(part.get("text"), str):
        return Text(part["text"])
    return Text(f.json_text(part["json"])) if "json" in part else Opaque("", part)


def _answer(body: bytes, content_type: str) -> Parsed:
    """An answer as a message; an error is an object with one. Raises Unreadable when torn."""
    streamed = "amazon.eventstream" in content_type
    value = _assembled(named_events(body)) if streamed else f.mapping(f.parse(body))
    said = f.mapping(value.get("output")).get("message")
    if isinstance(said, dict):
        stop = f.text(value.get("stopReason")) or None
        complete = stop is not None or not streamed
        return Parsed(_message({"role": "assistant", **said}), stop, complete=complete)
    text = f.text(value.get("message")) or f.text(value.get("Message"))
    error = ApiError(0, f.text(value.get("__type")), text) if text else None
    return Parsed(None, complete=False, error=error)


_Parts = dict[str, list[str]]


def _assembled(events: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """The answer as it would be without streaming; an exception event becomes an error."""
    starts: dict[int, dict[str, Json]] = {}
    parts: dict[int, _Parts] = {}
    stop: Json = None
    begun = False
    for name, value in events:
        value = f.mapping(value)
        index = f.whole(value.get("contentBlockIndex")) or 0
        if name == "messageStart":
            begun = True
        elif name == "contentBlockStart":
            starts[index] = f.mapping(value.get("start"))
        elif name == "contentBlockDelta":
            _add(parts.setdefault(index, {}), f.mapping(value.get("delta")))
        elif name == "messageStop":
            stop = value.get("stopReason")
        elif name.endswith("Exception"):
            return {"__type": name, "message": f.text(value.get("message")) or name}
    if not begun:
        return {}
    places = sorted({*starts, *parts})
    content = [_streamed_block(starts.get(n, {}), parts.get(n, {})) for n in places]
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop}


def _add(parts: _Parts, delta: dict[str, Json]) -> None:
    call, thought = f.mapping(delta.get("toolUse")), f.mapping(delta.get("reasoningContent"))
    said = {
        "text": delta.get("text"),
        "input": call.get("input"),
        "thought": thought.get("text"),
        "signature": thought.get("signature"),
    }
    for name, part in said.items():
        if isinstance(part, str):
            parts.setdefault(name, []).append(part)


def _streamed_block(start: dict[str, Json], parts: _Parts) -> dict[str, Json]:
    said = {name: "".join(came) for name, came in parts.items()}
    if "toolUse" in start:
        given = f.arguments(said.get("input", "")) or {}
        return {"toolUse": {**f.mapping(start["toolUse"]), "input": given}}
    if "thought" in said or "signature" in said:
        thought = {"text": said.get("thought", ""), "signature": said.get("signature", "")}
        return {"reasoningContent": {"reasoningText": thought}}
    return {"text": said["text"]} if "text" in said else start


def _is_own(message: dict[str, Json]) -> bool:
    blocks = f.objects(message.get("content"))
    return any("type" not in b and ("toolUse" in b or "toolResult" in b) for b in blocks)


BEDROCK_CONVERSE = RecordedApi(
    name="bedrock-converse",
    paths=(r"/model/(?P<model>[^/]+)/converse(-stream)?$",),
    marks=_is_own,
    apart=True,
    request=_request,
    answer=_answer,
    messages=_messages,
)
