"""A streamed completion as it is put together from its chunks.

Only the first choice is read. The fragments of a call carry its index, and the first of them its
id; some gateways send every call at index 0, so another id begins another call. What does not come
in pieces (a field that is no text) is taken as it came last.
"""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.providers.openai_chat.stops import stop_from
from harness.providers.openai_chat.usage import usage_from

_ARGUMENTS = {"function": "arguments", "custom": "input"}
_PIECES = frozenset({"reasoning_content", "content", "refusal"})


class Assembly:
    """The message of a stream as its chunks come in; `ended` once it said why it stopped."""

    def __init__(self) -> None:
        self.stop: str | None = None
        self.usage: dict[str, Json] = {}
        self.ended = False
        self._message: dict[str, Json] | None = None
        self._calls: list[dict[str, Json]] = []
        self._open: dict[Json, dict[str, Json]] = {}

    def take(self, chunk: dict[str, Json]) -> None:
        """Take in a chunk; one without choices only counts."""
        self.usage = usage_from(chunk.get("usage")) or self.usage
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._take(choice)

    def _take(self, choice: dict[str, Json]) -> None:
        if choice.get("finish_reason") is not None:
            self.stop, self.ended = stop_from(choice["finish_reason"]), True
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        message = self._message = self._message or {}
        for name, value in delta.items():
            if name == "tool_calls" and isinstance(value, list):
                for fragment in value:
                    self._take_call(fragment)
            elif name == "function_call" and isinstance(value, dict):
                message[name] = _extended(message.get(name) or {}, value, "arguments")
            elif name in _PIECES and isinstance(value, str):
                before = message.get(name)
                message[name] = (before if isinstance(before, str) else "") + value
            elif value is not None:
                message[name] = value

    def _take_call(self, fragment: Json) -> None:
        if not isinstance(fragment, dict):
            return
        index, id_ = str(fragment.get("index", 0)), fragment.get("id")
        call = self._open.get(index)
        if call is None or (id_ and call.get("id") and id_ != call["id"]):
            call = self._open[index] = {}
            self._calls.append(call)
        for name, value in fragment.items():
            if name in _ARGUMENTS and isinstance(value, dict):
                call[name] = _extended(call.get(name) or {}, value, _ARGUMENTS[name])
            elif name != "index" and not call.get(name):
                call[name] = value

    def message(self) -> dict[str, Json] | None:
        """The message as an unstreamed answer would have it; None before the first delta."""
        if self._message is None:
            return None
        return {**self._message, "tool_calls": self._calls or None}


def _extended(said: dict[str, Json], piece: dict[str, Json], grows: str) -> dict[str, Json]:
    """What a function is called with so far: its name comes whole, the arguments in pieces."""
    merged = {**said, **{k: v for k, v in piece.items() if k != grows and not said.get(k)}}
    given, before = piece.get(grows), said.get(grows)
    if isinstance(given, str) and isinstance(before, (str, type(None))):
        merged[grows] = (before or "") + given
    elif given is not None:
        merged[grows] = given
    return merged
