"""Requests of this API as readings, at the cost of what is new in them.

One session has one reader. Except for `keep`, answers follow from the store, not the last request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from harness.core.transition.ports import IssuedThinking, Violation
from harness.core.values.messages import Json, ToolSpec
from harness.providers.openai_responses.blocks import recorded_messages
from harness.providers.openai_responses.conversations import (
    Conversations,
    ItemNode,
    ItemPath,
    Place,
    PlacedReading,
)
from harness.providers.openai_responses.fields import field_memory
from harness.providers.openai_responses.record import TABLE, rules_of, violation
from harness.providers.openai_responses.validator import wrong_type
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import reason, tokens
from harness.providers.shared.reader import same_fields
from harness.providers.shared.request_memory import LastRequest, NewMessages, NotAnObject

_decode = msgspec.json.Decoder().decode


class ResponsesReader:
    """Reads the requests of one session, in order."""

    def __init__(self, dialect: str, window_tokens: int | None = None) -> None:
        self._window_tokens = window_tokens
        self._active = rules_of(dialect)
        self._stored, self._path = Conversations(), ItemPath(self._active)
        self._fields = field_memory()
        self._last = LastRequest("input", text=_message)
        self._base: ItemNode | None = None

    def expect(self, issued: IssuedThinking) -> None:
        """From now on refuse encrypted reasoning that was not issued."""
        self._stored.issued = issued

    def kept(self) -> bytes:
        """What the server stores of the session."""
        return self._stored.kept()

    def keep(self, kept: bytes) -> None:
        """Go on from what another reader of the session stored."""
        self._stored.keep(kept)

    def read(self, body: bytes) -> PlacedReading:
        """A request's bytes as values. What is not a request at all comes back as a violation."""
        self._path.begin()
        try:
            found = self._last.find(body)
            if found.fields is not None:
                self._fields.take(found.fields)
            self._take(found)
            reading = self._reading(*self._fields.said.violations, *self._missing(found))
            is_list = found.raws is not None or found.bad in (b"", b"null")
            return reading if is_list else msgspec.structs.replace(reading, unread=True)
        except NotAnObject as error:
            broken = wrong_type("body", "an object", error.value)
        except (ValueError, RecursionError):
            broken = violation("R18", reason=reason(body))
        self._forget()
        return msgspec.structs.replace(self._reading(), violations=(broken,), unread=True)

    def _forget(self) -> None:
        """What the server stores stays."""
        self._last.forget()
        self._base = None
        self._fields.take({})
        self._path.go(None)

    def _missing(self, found: NewMessages) -> list[Violation]:
        said = self._fields.said
        if found.bad not in (b"", b"null"):
            wanted = "one of a string or an array of objects"
            return [wrong_type("input", wanted, _decode(found.bad))]
        elsewhere = said.previous or said.conversation or said.has_prompt
        return [] if elsewhere or found.raws is not None else [violation("R22")]

    def _take(self, found: NewMessages) -> None:
        """Raises ValueError for bad JSON."""
        base, keep, items = self._said_before(), found.keep, list(found.values)
        if found.raws is None:
            self._last.forget()
        # What `keep` counts lies on the base of the last request: on another base it is read again.
        if base is self._base:
            self._path.cut((base.depth if base else 0) + keep)
        else:
            keep, items = 0, [*map(_decode, self._last.raws[:keep]), *items]
            self._path.go(base)
        self._base = base
        known = self._stored.known(stores=self._fields.said.stores)
        for n, item in enumerate(items, start=keep):
            self._path.take(item, known, n)

    def _said_before(self) -> ItemNode | None:
        said = self._fields.said
        if said.previous and not self._stored.has(said.previous):
            return None
        return self._stored.end_of(said.previous, said.conversation)

    def _reading(self, *found: Violation) -> PlacedReading:
        said, state = self._fields.said, self._path.state
        keep, messages = self._path.kept()
        size = tokens(state.size_bytes + said.size_bytes)
        # Of a conversation that is not there, nothing else can be said.
        is_lost = bool(said.previous) and not self._stored.has(said.previous)
        found += (violation("R15", id=said.previous),) if is_lost else self._path.finish()
        if self._window_tokens is not None and size > self._window_tokens and not said.truncates:
            found += (violation("V23"),)
        active = tuple(v for v in found if v.rule in self._active)
        return PlacedReading(
            messages=messages,
            keep=keep,
            added=tuple(messages[keep:]),
            system=said.system,
            tokens=size,
            violations=TABLE.of_model(active, said.model),
            unread=is_lost,
            place=Place(self._stored, self._path.tip, said.conversation, said.stores),
            **same_fields(said),
        )


def _message(text: bytes) -> bytes:
    return b'{"role":"user","content":%b}' % text


def recorded_request(value: dict[str, Json]) -> f.RecordedRequest | None:
    """A request of a recording; None for what has neither an input nor the name of a stored prompt.

    One that names such a prompt, or that has its instructions alone, may have no messages.
    """
    given = value.get("input")
    if not isinstance(given, (str, list)) and "prompt" not in value:
        return None
    said = [{"role": "user", "content": given}] if given else []
    items = said if isinstance(given, str) else f.objects(given)
    added = [t for item in items for t in f.listed(item.get("tools"))]
    return f.RecordedRequest(
        messages=tuple(recorded_messages(items)),
        system=f.text(value.get("instructions")),
        tools=tuple(_recorded_tools([*f.listed(value.get("tools")), *added])),
        model=f.text(value.get("model")),
        max_tokens=f.whole(value.get("max_output_tokens")),
        stream=value.get("stream") is True,
        stateful=_is_stateful(value, items),
    )


def _is_stateful(value: dict[str, Json], items: list[dict[str, Json]]) -> bool:
    held = value.get("previous_response_id") or value.get("conversation")
    return bool(held) or any(item.get("type") == "item_reference" for item in items)


def _recorded_tools(declared: Iterable[Json]) -> Iterator[ToolSpec]:
    for tool in declared:
        tool = f.mapping(tool)
        if tool.get("type") == "namespace":
            yield from (f.tool(inner) for inner in f.objects(tool.get("tools")))
        elif "name" in tool:
            yield f.tool(tool)
