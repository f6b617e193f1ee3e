"""Recorded JSON, read without trust: the right type or a default.

A recording may be invalid and must show it, so nothing here raises or repairs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

import msgspec

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolSpec
from harness.core.values.plans import ApiError
from harness.providers.shared.codec import decode

UNREAD_CALL = "unread_call"
"""The kind of an `Opaque` block for a call of a recording that cannot be read: `reason`, `call`."""


class RecordedRequest(msgspec.Struct, frozen=True):
    """A recorded request to a model.

    `stateful`: the provider holds earlier messages, so a result may come without its call.
    """

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    model: str = ""
    max_tokens: int | None = None
    stream: bool = False
    stateful: bool = False


class RecordedApi(msgspec.Struct, frozen=True, kw_only=True):
    """How recordings of an API are read; no function raises for any JSON.

    - `paths`: patterns for the ends of the paths at which the API is spoken.
    - `field`: the field of a request that lists its messages.
    - `answered_by`: a field that only answers of this API have, "" for none.
    - `marks` says whether a message can be of this API alone.
    - `request` reads a request; None for a body without a list of messages.
    - `answer` takes a body and its content type.
    - `messages` reads the entries of a list, as a request or a log holds them.
    - `framed`: behind a gateway, events may come in frames.
    - `apart`: each entry of the list can be read alone, and so can the rest of a request.
    """

    name: str
    paths: tuple[str, ...]
    field: str = "messages"
    answered_by: str = ""
    marks: Callable[[dict[str, Json]], bool] = lambda message: False
    framed: bool = False
    apart: bool = False
    request: Callable[[dict[str, Json]], RecordedRequest | None]
    answer: Callable[[bytes, str], Parsed]
    messages: Callable[[Iterable[dict[str, Json]]], Iterator[Message]]


def text(value: Json) -> str:
    """A text; "" for anything else."""
    return value if isinstance(value, str) else ""


def identifier(value: Json) -> str:
    """An id as text; "" for none. A number or a list is its JSON, so that two ids still differ."""
    return value if isinstance(value, str) else "" if value is None else json_text(value)


def mapping(value: Json) -> dict[str, Json]:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def first(value: dict[str, Json], names: Iterable[str]) -> Json:
    """The first of these fields that is there and not null; None without one."""
    return next((value[name] for name in names if value.get(name) is not None), None)


def listed(value: Json) -> list[Json]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def objects(value: Json) -> list[dict[str, Json]]:
    """The objects of a list."""
    return [item for item in listed(value) if isinstance(item, dict)]


def whole(value: Json) -> int | None:
    """An integer; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def arguments(value: Json) -> Json:
    """A call's arguments: the value that the text is JSON of, else the text itself."""
    if not isinstance(value, str):
        return value
    try:
        return decode(value)
    except (ValueError, RecursionError):
        return value


def parse(body: bytes | str) -> Json:
    """A body's JSON value; None when it is not JSON."""
    try:
        return decode(body)
    except (ValueError, RecursionError):
        return None


def blocks(content: Json, kinds: dict[str, str]) -> tuple[Block, ...]:
    """Content as blocks: a text, or parts; `kinds` names the field of each type that is text."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    return tuple(_part(part, kinds) for part in listed(content))


def _part(part: Json, kinds: dict[str, str]) -> Block:
    if isinstance(part, str):
        return Text(part)
    part = mapping(part)
    kind = text(part.get("type"))
    said = part.get(kinds.get(kind, ""))
    return Text(said) if isinstance(said, str) else Opaque(kind, part)


def result_content(content: Json, kinds: dict[str, str]) -> str | tuple[Text | Opaque, ...]:
    """The content of a tool's result: a text, parts, or the JSON of any other value."""
    if isinstance(content, list):
        parts = (_part(part, kinds) for part in content)
        return tuple(part for part in parts if isinstance(part, (Text, Opaque)))
    return content if isinstance(content, str) else "" if content is None else json_text(content)


def json_text(value: Json) -> str:
    """A value as JSON text with sorted keys, without escapes for non-ASCII characters."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def as_text(value: Json) -> str:
    """A value as text: a text is itself, anything else its JSON."""
    return value if isinstance(value, str) else json_text(value)


def tool(value: dict[str, Json], schema: str = "parameters") -> ToolSpec:
    """A declared tool whose input schema stands under the name `schema`."""
    described = text(value.get("description"))
    return ToolSpec(text(value.get("name")), described, mapping(value.get(schema)))


def joined(texts: Iterable[str]) -> str:
    """Texts that are not empty, a line each."""
    return "\n".join(filter(None, texts))


def error_in(value: dict[str, Json]) -> ApiError | None:
    """The error that a recorded answer is, None for none; its status is that of the response."""
    said = value.get("error")
    if not said:
        return None
    if isinstance(said, str):
        return ApiError(0, "", said)
    found = mapping(said)
    kind = text(found.get("type")) or text(found.get("code")) or text(found.get("status"))
    return ApiError(0, kind, text(found.get("message")))
