"""Answers read back: a body (JSON, or a whole stream) to what it says.

A cut tool input stays text. Stream rules are those of the official SDK: blocks are appended at
their start, deltas name their index. A second message_start is ignored; usage is replaced, never
added. A stop reason or message_stop completes a stream: the SDK reports no error where only the
last event is missing, and everything was said.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Json, Message
from harness.core.values.plans import ApiError
from harness.providers.anthropic.blocks import block_from
from harness.providers.anthropic.record import STATUS
from harness.providers.shared import json_fields as f
from harness.providers.shared import sse
from harness.providers.shared.codec import arguments_from, decode
from harness.providers.shared.event_stream import is_framed, readable_sse


def message_of(value: dict[str, Json], content: list[dict[str, Json]]) -> Message:
    """The message of an envelope, with the blocks that were put together."""
    role = value.get("role")
    blocks = tuple(block_from(block) for block in content)
    return Message(role if isinstance(role, str) else "assistant", blocks)


def stop_of(value: dict[str, Json]) -> str | None:
    """The stop reason, None when it says none."""
    stop = value.get("stop_reason")
    return stop if isinstance(stop, str) else None


def error_of(value: dict[str, Json], status: int | None) -> ApiError:
    """The error of an envelope; `status` None takes the usual one of its type."""
    error = value.get("error")
    error = error if isinstance(error, dict) else {"message": error}
    kind, message = str(error.get("type") or ""), str(error.get("message") or "")
    code = f.text(f.mapping(error.get("details")).get("error_code"))
    usual = STATUS.get(kind, 0) if status is None else status
    return ApiError(usual, kind, message, code=code)


class MessageAssembly:
    """A message as its events come in."""

    def __init__(self) -> None:
        self._start: dict[str, Json] | None = None
        self._blocks: list[dict[str, Json]] = []
        self._inputs: dict[int, str] = {}
        self._stop: str | None = None
        self._usage: dict[str, Json] = {}
        self._ended = False
        self._error: ApiError | None = None

    def take(self, event: dict[str, Json]) -> None:
        """Take in an event; unknown ones, and all before message_start, say nothing."""
        kind = event.get("type")
        if kind == "error":
            self._error = error_of(event, 200)
        elif kind == "message_start" and self._start is None:
            self._start = f.mapping(event.get("message"))
            self._usage = dict(f.mapping(self._start.get("usage")))
        elif self._start is not None and isinstance(kind, str) and kind in _TAKE:
            _TAKE[kind](self, event)

    def fail(self, data: str) -> None:
        """Take in an error event, whose data need not be JSON."""
        value = f.parse(data)
        self._error = error_of(value if isinstance(value, dict) else {"error": data}, 200)

    def parsed(self) -> Parsed:
        """What has come in so far."""
        message = None if self._start is None else message_of(self._start, self._content())
        complete = (self._ended or self._stop is not None) and self._error is None
        return Parsed(message, self._stop, self._usage, complete, self._error)

    def _content(self) -> list[dict[str, Json]]:
        return [
            {**block, "input": arguments_from(text)} if (text := self._inputs.get(index)) else block
            for index, block in enumerate(self._blocks)
        ]

    def block_start(self, event: dict[str, Json]) -> None:
        """A block is appended; the index that it names is ignored."""
        self._blocks.append(dict(f.mapping(event.get("content_block"))))

    def block_delta(self, event: dict[str, Json]) -> None:
        """A piece is added to the block at its index; a piece without a block is dropped."""
        index, delta = event.get("index"), event.get("delta")
        if not isinstance(delta, dict) or not isinstance(index, int):
            return
        if not 0 <= index < len(self._blocks):
            return
        match delta:
            case {"type": "input_json_delta", "partial_json": str(piece)}:
                self._inputs[index] = self._inputs.get(index, "") + piece
            case {"type": "citations_delta", "citation": citation}:
                block = self._blocks[index]
                block["citations"] = [*f.listed(block.get("citations")), citation]
            case {"type": "signature_delta", "signature": str(signature)}:
                self._blocks[index]["signature"] = signature
            case {"type": "compaction_delta", **said}:
                self._blocks[index].update(said)
            case {"type": "text_delta" | "thinking_delta" as kind}:
                _append(self._blocks[index], kind.removesuffix("_delta"), delta)

    def message_delta(self, event: dict[str, Json]) -> None:
        """The stop reason, and usage that is cumulative."""
        delta = event.get("delta")
        self._stop = stop_of(delta) if isinstance(delta, dict) else None
        usage = f.mapping(event.get("usage"))
        self._usage.update((name, count) for name, count in usage.items() if count is not None)

    def message_stop(self, event: dict[str, Json]) -> None:
        """The terminal event."""
        self._ended = True


def _append(block: dict[str, Json], name: str, delta: dict[str, Json]) -> None:
    """Text goes to a block of its own kind; to another one it is lost."""
    piece, before = delta.get(name), block.get(name)
    if block.get("type") == name and isinstance(piece, str):
        block[name] = (before if isinstance(before, str) else "") + piece


_TAKE: dict[str, Callable[[MessageAssembly, dict[str, Json]], None]] = {
    "content_block_start": MessageAssembly.block_start,
    "content_block_delta": MessageAssembly.block_delta,
    "message_delta": MessageAssembly.message_delta,
    "message_stop": MessageAssembly.message_stop,
}


def parse(body: bytes, content_type: str) -> Parsed:
    """An answer's body as values.

    The status of an error is the usual one of its type (0 for an unknown type); that of an error
    event is 200, for its stream had begun well.
    """
    if is_framed(content_type):
        return _parse_stream(readable_sse(body).decode("utf-8", "replace"))
    text = body.decode("utf-8", "replace")
    if sse.is_stream(body, content_type):
        return _parse_stream(text)
    try:
        value = decode(text)
    except (ValueError, RecursionError):
        return Parsed(None, complete=False)
    return _parse_json(value)


recorded_answer = parse
"""Recordings hold nothing that `parse` would not read."""


def _parse_json(value: Json) -> Parsed:
    if not isinstance(value, dict):
        return Parsed(None)
    if value.get("error") is not None or value.get("type") == "error":
        return Parsed(None, error=error_of(value, None))
    if not isinstance(value.get("content"), list):
        return Parsed(None)
    message = message_of(value, f.objects(value["content"]))
    return Parsed(message, stop_of(value), f.mapping(value.get("usage")))


def _parse_stream(text: str) -> Parsed:
    assembly = MessageAssembly()
    for event in sse.events(text):
        if event.name == "error":
            assembly.fail(event.data)
            break
        if event.name == "ping" or not event.data:
            continue
        try:
            value = decode(event.data)
        except (ValueError, RecursionError):
            break
        if isinstance(value, dict):
            assembly.take(value)
    return assembly.parsed()
