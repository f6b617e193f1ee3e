"""Ollama's own chat, at `/api/chat`: lines of JSON, one a piece of the answer.

A call has an object of arguments and, from older servers, no id; a result names its tool. Source:
Ollama API reference, "Generate a chat message".
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
    ToolUse,
)
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import Unreadable
from harness.providers.shared.json_fields import UNREAD_CALL, RecordedApi, RecordedRequest


def _request(value: dict[str, Json]) -> RecordedRequest | None:
    if not isinstance(value.get("messages"), list):
        return None
    most = f.whole(f.mapping(value.get("options")).get("num_predict"))
    return RecordedRequest(
        messages=tuple(_messages(f.objects(value["messages"]))),
        tools=tuple(f.tool(f.mapping(t.get("function"))) for t in f.objects(value.get("tools"))),
        model=f.text(value.get("model")),
        max_tokens=most if most is not None and most > 0 else None,
        stream=value.get("stream") is not False,
    )


def _messages(values: Iterable[dict[str, Json]]) -> Iterator[Message]:
    ids = _OpenCalls("")
    return (_message(value, ids) for value in values)


class _OpenCalls:
    """The calls that wait for a result, as (id, name): a result names its tool, or none."""

    def __init__(self, before: str) -> None:
        self._before, self._made = before, 0
        self._open: list[tuple[str, str]] = []

    def add(self, call: dict[str, Json], name: str) -> str:
        """The id of a call, made up for one without."""
        self._made += 1
        id_ = f.identifier(call.get("id")) or f"{self._before}{name}#{self._made}"
        self._open.append((id_, name))
        return id_

    def answer(self, result: dict[str, Json]) -> str:
        """The id of the call that a result answers; "" where none is open."""
        name = f.text(result.get("tool_name")) or f.text(result.get("name"))
        given = f.identifier(result.get("tool_call_id"))
        meant = (n for n, (id_, called) in enumerate(self._open) if _fits(given, name, id_, called))
        place = next(meant, None)
        return given if place is None else self._open.pop(place)[0]


def _fits(given: str, name: str, id_: str, called: str) -> bool:
    return id_ == given if given else not name or called == name


def _message(value: dict[str, Json], ids: _OpenCalls) -> Message:
    role = f.text(value.get("role")) or "assistant"
    if role == "tool":
        content = f.result_content(value.get("content"), {})
        return Message(role, (ToolResult(ids.answer(value), content),))
    return Message(role, tuple(_blocks(value, ids)))


def _blocks(value: dict[str, Json], ids: _OpenCalls) -> Iterator[Block]:
    if thought := f.text(value.get("thinking")):
        yield Thinking(thought)
    if said := f.text(value.get("content")):
        yield Text(said)
    for image in f.listed(value.get("images")):
        yield Opaque("image", {"data": image})
    for call in f.listed(value.get("tool_calls")):
        function = f.mapping(f.mapping(call).get("function"))
        if name := f.text(function.get("name")).strip():
            yield ToolUse(ids.add(f.mapping(call), name), name, function.get("arguments"))
        else:
            yield Opaque(UNREAD_CALL, {"reason": _NO_NAME, "call": call})


_NO_NAME = "a call has no name: none stands in function.name"


def _answer(body: bytes, content_type: str) -> Parsed:
    """The pieces of an answer put together. Raises Unreadable for a stream with a line of none."""
    said: dict[str, Json] = {"role": "assistant"}
    calls: list[Json] = []
    stop, begun, done = None, False, False
    for piece in _pieces(body):
        if (error := f.error_in(piece)) is not None:
            return Parsed(_said(said, calls) if begun else None, complete=False, error=error)
        if isinstance(message := piece.get("message"), dict):
            begun = True
            for name in ("thinking", "content"):
                said[name] = f.text(said.get(name)) + f.text(message.get(name))
            calls += f.listed(message.get("tool_calls"))
        stop = f.text(piece.get("done_reason")) or stop
        done = done or piece.get("done") is True
    return Parsed(_said(said, calls) if begun else None, stop, complete=done)


def _said(said: dict[str, Json], calls: list[Json]) -> Message:
    return _message({**said, "tool_calls": calls}, _OpenCalls("answer "))


def _pieces(body: bytes) -> Iterator[dict[str, Json]]:
    """The objects of the lines; the last line may be torn, as the connection was."""
    whole = f.parse(body)
    pieces = [whole] if isinstance(whole, dict) else []
    pieces = pieces or [f.parse(line) for line in body.split(b"\n") if line.strip()]
    if not any(isinstance(piece, dict) for piece in pieces):
        return
    for number, piece in enumerate(pieces, start=1):
        if isinstance(piece, dict):
            yield piece
        elif number < len(pieces):
            raise Unreadable(f"line {number} of the stream is not a JSON object")


OLLAMA = RecordedApi(
    name="ollama", paths=(r"/api/chat$",), request=_request, answer=_answer, messages=_messages
)
