"""A streamed response as it is put together from its events.

Deltas go to the item at their index; the item that is done stands for all that was said of it, and
the terminal event's output for all items. A call that was cut keeps the text of its arguments as it
came, so that nobody takes it for a whole one.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.openai_responses.errors import error_of, flat_error

_TERMINAL = ("response.completed", "response.incomplete", "response.failed")
_Event = dict[str, Json]


class Assembly:
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
        whole = self.ended and isinstance(output, list) and (output or not self._items)
        return {**self._response, "output": output if whole else self._said()}

    def _said(self) -> list[_Event]:
        return [item for _, item in sorted(self._items.items())]

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
        name = "summary" if "summary_index" in event else "content"
        at, part = event.get("summary_index", event.get("content_index")), event.get("part")
        item = self._item(event)
        parts = item.get(name) if item is not None else None
        if item is None or not isinstance(at, int) or not isinstance(part, dict):
            return
        parts = list(parts) if isinstance(parts, list) else []
        parts[at : at + 1] = [part]
        item[name] = parts

    def grow(self, event: _Event) -> None:
        """A piece of text, of a refusal, of a summary or of arguments."""
        delta, item, kind = event.get("delta"), self._item(event), event["type"]
        if item is None or not isinstance(delta, str):
            return
        if "arguments" in kind:
            _append(item, "arguments", delta)
            return
        name = "summary" if "summary_index" in event else "content"
        at, parts = event.get("summary_index", event.get("content_index")), item.get(name)
        if isinstance(parts, list) and isinstance(at, int) and 0 <= at < len(parts):
            part = parts[at] = dict(parts[at]) if isinstance(parts[at], dict) else {}
            _append(part, "refusal" if "refusal" in kind else "text", delta)

    def _item(self, event: _Event) -> _Event | None:
        """A copy of our own of the item that an event is about."""
        index = event.get("output_index")
        if not isinstance(index, int) or index not in self._items:
            return None
        self._items[index] = dict(self._items[index])
        return self._items[index]


def _append(value: _Event, name: str, piece: str) -> None:
    before = value.get(name)
    value[name] = (before if isinstance(before, str) else "") + piece


_TAKE: dict[str, Callable[[Assembly, _Event], None]] = {
    "response.output_item.added": Assembly.item,
    "response.output_item.done": Assembly.item,
    "response.content_part.added": Assembly.part,
    "response.content_part.done": Assembly.part,
    "response.reasoning_summary_part.added": Assembly.part,
    "response.reasoning_summary_part.done": Assembly.part,
    "response.output_text.delta": Assembly.grow,
    "response.refusal.delta": Assembly.grow,
    "response.reasoning_summary_text.delta": Assembly.grow,
    "response.function_call_arguments.delta": Assembly.grow,
}
