"""A streamed message as it is put together from its events.

The rules are those of the official SDK, odd ones too: blocks are appended as they start, deltas go
to the block at their index, a second message_start says nothing, usage is replaced and never
added. A tool input that was cut is kept as the text that came, so that nobody takes it for a whole
one.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.anthropic.envelope import error_of, message_of, stop_of, usage_of
from harness.providers.codec import decode, input_from


class Assembly:
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
            message = event.get("message")
            self._start = message if isinstance(message, dict) else {}
            self._usage = usage_of(self._start.get("usage"))
        elif self._start is not None and isinstance(kind, str) and kind in _TAKE:
            _TAKE[kind](self, event)

    def fail(self, data: str) -> None:
        """Take in an error event, whose data need not be JSON."""
        try:
            value = decode(data)
        except (ValueError, RecursionError):
            value = None
        self._error = error_of(value if isinstance(value, dict) else {"error": data}, 200)

    def parsed(self) -> Parsed:
        """What has come in so far."""
        message = None if self._start is None else message_of(self._start, self._content())
        complete = self._ended and self._error is None
        return Parsed(message, self._stop, self._usage, complete, self._error)

    def _content(self) -> list[dict[str, Json]]:
        return [
            {**block, "input": input_from(text)} if (text := self._inputs.get(index)) else block
            for index, block in enumerate(self._blocks)
        ]

    def block_start(self, event: dict[str, Json]) -> None:
        """A block is appended, whatever index it names."""
        block = event.get("content_block")
        self._blocks.append(dict(block) if isinstance(block, dict) else {})

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
                former = block.get("citations")
                block["citations"] = [*(former if isinstance(former, list) else ()), citation]
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
        usage = usage_of(event.get("usage"))
        self._usage.update((name, count) for name, count in usage.items() if count is not None)

    def message_stop(self, event: dict[str, Json]) -> None:
        """The terminal event."""
        self._ended = True


def _append(block: dict[str, Json], name: str, delta: dict[str, Json]) -> None:
    """Text goes to a block of its own kind; to another one it is lost."""
    piece, before = delta.get(name), block.get(name)
    if block.get("type") == name and isinstance(piece, str):
        block[name] = (before if isinstance(before, str) else "") + piece


_TAKE: dict[str, Callable[[Assembly, dict[str, Json]], None]] = {
    "content_block_start": Assembly.block_start,
    "content_block_delta": Assembly.block_delta,
    "message_delta": Assembly.message_delta,
    "message_stop": Assembly.message_stop,
}
