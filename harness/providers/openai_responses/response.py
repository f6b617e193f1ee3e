"""Answers read back: a body (JSON, or a whole stream) to what it says.

A failed response is complete, by its own last event; an error event completes nothing. A finished
item replaces its deltas, the terminal event's output all items. A cut call keeps its text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Block, Json, Message, ToolUse
from harness.core.values.plans import ApiError
from harness.providers.openai_responses.blocks import ItemSaid, is_refusal, read, recorded_messages
from harness.providers.openai_responses.record import RECORD, error_of, flat_error
from harness.providers.shared import json_fields as f
from harness.providers.shared import sse

FAILED = "failed"


def finished(blocks: Sequence[Block]) -> str:
    """Why the model stopped that finished and said this."""
    if any(isinstance(block, ToolUse) for block in blocks):
        return "tool_use"
    return "refusal" if any(map(is_refusal, blocks)) else "end_turn"


def stop_of(response: dict[str, Json], blocks: Sequence[Block]) -> str | None:
    """Why the model stopped, by a response object; None for one that is not at its end."""
    status = response.get("status")
    if status == "completed":
        return finished(blocks)
    if status == "incomplete":
        reason = f.mapping(response.get("incomplete_details")).get("reason")
        return RECORD.read_stop(reason) if isinstance(reason, str) else "incomplete"
    return status if status in (FAILED, "cancelled") else None


_TERMINAL = ("response.completed", "response.incomplete", "response.failed")
_Event = dict[str, Json]


class ResponseAssembly:
    """A response as its events come in. `ended`: its terminal event came."""

    def __init__(self) -> None:
        self.ended = False
        self.error: ApiError | None = None
        self._response: _Event | None = None
        self._items: dict[int, _Event] = {}

    @property
    def response(self) -> _Event | None:
        """What has come in so far as a response object; None when nothing has begun."""
        if self._response is None:
            return None
        output = self._response.get("output")
        items = [item for _, item in sorted(self._items.items())]
        whole = self.ended and isinstance(output, list) and (output or not self._items)
        return {**self._response, "output": output if whole else items}

    def take(self, event: _Event, name: str) -> None:
        """Take in an event; unknown ones, and those after the end, say nothing."""
        kind = event.get("type") or name
        if kind == "error" or (name == "error" and "error" in event):
            nested = event.get("error")
            self.error = self.error or (error_of(nested, 200) if nested else flat_error(event))
        elif isinstance(event.get("response"), dict) and not self.ended:
            self._response = event["response"]
            self.ended = kind in _TERMINAL
        elif isinstance(kind, str) and kind in _TAKE and not self.ended:
            _TAKE[kind](self, {**event, "type": kind})

    def item(self, event: _Event) -> None:
        """An item begins, or is done."""
        index, item = event.get("output_index"), event.get("item")
        if isinstance(index, int) and isinstance(item, dict):
            self._items[index] = item

    def part(self, event: _Event) -> None:
        """A part of a message, or of a summary, begins or is done."""
        name, at = _place(event)
        item, part = self._item(event), event.get("part")
        if item is None or not isinstance(at, int) or not isinstance(part, dict):
            return
        item[name] = list(f.listed(item.get(name)))
        item[name][at : at + 1] = [part]

    def grow(self, event: _Event) -> None:
        """A piece of text, of a refusal, of a summary or of arguments."""
        delta, item, kind = event.get("delta"), self._item(event), event["type"]
        if item is None or not isinstance(delta, str):
            return
        if "arguments" in kind:
            _append(item, "arguments", delta)
            return
        name, at = _place(event)
        parts = item.get(name)
        if isinstance(parts, list) and isinstance(at, int) and 0 <= at < len(parts):
            part = parts[at] = dict(parts[at]) if isinstance(parts[at], dict) else {}
            _append(part, "refusal" if "refusal" in kind else "text", delta)

    def _item(self, event: _Event) -> _Event | None:
        index = event.get("output_index")
        if not isinstance(index, int) or index not in self._items:
            return None
        self._items[index] = dict(self._items[index])
        return self._items[index]


def _place(event: _Event) -> tuple[str, Json]:
    name = "summary" if "summary_index" in event else "content"
    return name, event.get(f"{name}_index")


def _append(value: _Event, name: str, piece: str) -> None:
    before = value.get(name)
    value[name] = (before if isinstance(before, str) else "") + piece


_TAKE: dict[str, Callable[[ResponseAssembly, _Event], None]] = {
    "response.output_item.added": ResponseAssembly.item,
    "response.output_item.done": ResponseAssembly.item,
    "response.content_part.added": ResponseAssembly.part,
    "response.content_part.done": ResponseAssembly.part,
    "response.reasoning_summary_part.added": ResponseAssembly.part,
    "response.reasoning_summary_part.done": ResponseAssembly.part,
    "response.output_text.delta": ResponseAssembly.grow,
    "response.refusal.delta": ResponseAssembly.grow,
    "response.reasoning_summary_text.delta": ResponseAssembly.grow,
    "response.function_call_arguments.delta": ResponseAssembly.grow,
}


_ENDED = ("completed", "incomplete", FAILED, "cancelled", None)


def parse(body: bytes, content_type: str) -> Parsed:
    """An answer's body as values.

    The status of an error is the usual one of its type (0 for an unknown one); that of a response
    that failed, and of an error event, is 200, for so it came.
    """
    if sse.is_stream(body, content_type):
        assembly = _assembled(body)
        response = assembly.response
        parsed = _parsed(response) if response is not None else Parsed(None, complete=False)
        return _ended(parsed, assembly.ended, assembly.error)
    value = f.parse(body.decode("utf-8", "replace"))
    if not isinstance(value, dict):
        return Parsed(None, complete=value is not None)
    if value.get("error") is not None and "output" not in value:
        return Parsed(None, error=error_of(value["error"]))
    return _parsed(value) if isinstance(value.get("output"), list) else Parsed(None)


def response_in(body: bytes, content_type: str) -> dict[str, Json]:
    """The response object that a body holds; empty when it holds none."""
    if sse.is_stream(body, content_type):
        return _assembled(body).response or {}
    return f.mapping(f.parse(body.decode("utf-8", "replace")))


def _assembled(body: bytes) -> ResponseAssembly:
    assembly = ResponseAssembly()
    for event in sse.events(body.decode("utf-8", "replace")):
        if not event.data or event.data.startswith("[DONE]"):
            continue
        value = f.parse(event.data)
        if value is None:
            break
        if isinstance(value, dict):
            assembly.take(value, event.name)
    return assembly


def _parsed(response: dict[str, Json]) -> Parsed:
    blocks: list[Block] = []
    before: ItemSaid | None = None
    for item in response["output"]:
        said = read(item)
        if before is not None and before.is_message and said.is_message:
            said = read(item, after_message=True)
        blocks += said.blocks
        before = said
    usage, failure = response.get("usage"), response.get("error")
    return Parsed(
        Message("assistant", tuple(blocks)),
        stop_of(response, blocks),
        f.mapping(usage),
        response.get("status") in _ENDED,
        error_of(failure, 200) if failure is not None else None,
    )


def _ended(parsed: Parsed, ended: bool, error: ApiError | None) -> Parsed:
    return Parsed(
        parsed.message,
        parsed.stop if ended else None,
        parsed.usage,
        ended and error is None,
        error or (parsed.error if ended else None),
    )


_RECORDED_STOPS = ("completed", "complete", "incomplete")


def recorded_answer(body: bytes, content_type: str) -> Parsed:
    """An answer of a recording as a message, with the stop reason word for word."""
    if sse.is_stream(body, content_type):
        return _recorded_stream(body)
    value = f.parse(body)
    return _recorded_response(value) if isinstance(value, dict) else Parsed(None, complete=False)


def _recorded_response(
    value: dict[str, Json], items: list[dict[str, Json]] | None = None
) -> Parsed:
    if (error := f.error_in(value)) is not None:
        return Parsed(None, error=error)
    output = f.objects(value.get("output")) or items or []
    status = f.text(value.get("status"))
    if not output and status not in _RECORDED_STOPS:
        return Parsed(None, complete=False)
    blocks = [block for message in recorded_messages(output) for block in message.blocks]
    message, ended = Message("assistant", tuple(blocks)), status in _RECORDED_STOPS
    reason = f.text(f.mapping(value.get("incomplete_details")).get("reason"))
    return Parsed(message, reason or status or None, complete=ended)


def _recorded_stream(body: bytes) -> Parsed:
    last: dict[str, Json] = {}
    done: list[dict[str, Json]] = []
    for value in sse.values(body):
        kind = f.text(value.get("type"))
        if kind == "error":
            flat = ApiError(0, f.text(value.get("code")), f.text(value.get("message")))
            return Parsed(None, complete=False, error=f.error_in(value) or flat)
        if kind == "response.output_item.done":
            done.append(f.mapping(value.get("item")))
        last = f.mapping(value.get("response")) or last
    return _recorded_response(last, done)
