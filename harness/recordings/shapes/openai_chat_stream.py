"""A streamed chat completion, put together from its chunks.

Only the first choice is read. Fragments of a call carry its index; the id and the name come with
the first one. Some gateways send every call with index 0, or with none: a new id begins a new call.
"""

from __future__ import annotations

from harness.core.values.messages import Json
from harness.recordings.shapes import fields as f

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


class Assembly:
    """The message of a stream as its chunks come in."""

    def __init__(self) -> None:
        self.stop: str | None = None
        self._begun = False
        self._texts: dict[str, list[str]] = {}
        self._calls: list[dict[str, Json]] = []
        self._open: dict[int, dict[str, Json]] = {}
        self._function: dict[str, Json] | None = None

    def take(self, chunk: dict[str, Json]) -> None:
        """Take in a chunk; one without choices (usage) says nothing."""
        for choice in f.objects(chunk.get("choices")):
            if choice.get("index", 0) == 0:
                self._take(f.mapping(choice.get("delta")))
                self.stop = f.text(choice.get("finish_reason")) or self.stop

    def _take(self, delta: dict[str, Json]) -> None:
        self._begun = True
        for name in _TEXTS:
            if isinstance(delta.get(name), str):
                self._texts.setdefault(name, []).append(delta[name])
        for part in f.listed(delta.get("content")):
            said = f.text(f.mapping(part).get("text"))
            self._texts.setdefault("content", []).append(said)
        for fragment in f.objects(delta.get("tool_calls")):
            _extend(self._call(fragment)["function"], f.mapping(fragment.get("function")))
        if isinstance(delta.get("function_call"), dict):
            self._function = self._function or {}
            _extend(self._function, delta["function_call"])

    def _call(self, fragment: dict[str, Json]) -> dict[str, Json]:
        """The call that a fragment belongs to."""
        index, id_ = f.whole(fragment.get("index")) or 0, f.text(fragment.get("id"))
        call = self._open.get(index)
        if call is None or (id_ and call["id"] and id_ != call["id"]):
            call = self._open[index] = {"id": id_, "function": {}}
            self._calls.append(call)
        call["id"] = call["id"] or id_
        return call

    def message(self) -> dict[str, Json] | None:
        """The message as an unstreamed answer would have it; None before the first chunk."""
        if not self._begun:
            return None
        said: dict[str, Json] = {name: "".join(parts) for name, parts in self._texts.items()}
        said |= {"role": "assistant", "tool_calls": self._calls}
        return said | ({"function_call": self._function} if self._function else {})


def _extend(function: dict[str, Json], piece: dict[str, Json]) -> None:
    """The name comes whole, the arguments piece by piece, or as a value."""
    function["name"] = function.get("name") or f.text(piece.get("name"))
    given, before = piece.get("arguments"), function.get("arguments")
    if isinstance(given, str) and isinstance(before, (str, type(None))):
        function["arguments"] = (before or "") + given
    elif given is not None:
        function["arguments"] = given
