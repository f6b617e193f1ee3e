"""Messages in a provider-neutral form: a role and blocks.

`Opaque` keeps every field of an unknown block, so a message survives a round trip. Providers leave
out `cache_control`, so a digest stays the same when the cache mark moves. The values hold no
cycles, so `gc=False` spares the garbage collector the walk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate, zip_longest
from types import NoneType
from typing import Any, Literal, TypeAlias

import msgspec

Json: TypeAlias = Any
"""Any JSON value, as msgspec decodes it."""

Role: TypeAlias = str
"""`user`, `assistant`, `system`, or any other role of a recording."""

Side = Literal["user", "assistant", "tool", "system"]


class Text(msgspec.Struct, frozen=True, gc=False, tag="text", omit_defaults=True):
    """Visible text. `extra` holds the block's other fields on the wire (citations)."""

    text: str
    extra: dict[str, Json] = {}


class Thinking(msgspec.Struct, frozen=True, gc=False, tag="thinking", omit_defaults=True):
    """A model's reasoning; `redacted` holds the opaque data of a redacted block."""

    text: str = ""
    signature: str = ""
    redacted: str = ""


class ToolUse(msgspec.Struct, frozen=True, gc=False, tag="tool_use", omit_defaults=True):
    """A call that the model requests. `input` is the input on the wire, of any JSON type."""

    id: str
    name: str
    input: Json = None
    extra: dict[str, Json] = {}


class ToolResult(msgspec.Struct, frozen=True, gc=False, tag="tool_result", omit_defaults=True):
    """The answer to the call `id`: text, or blocks."""

    id: str
    content: str | tuple[Text | Opaque, ...] = ""
    is_error: bool = False

    @property
    def text(self) -> str:
        """The readable part of the content."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join([block.text for block in self.content if isinstance(block, Text)])


class Opaque(msgspec.Struct, frozen=True, gc=False, tag="opaque"):
    """A block of a `kind` that we do not interpret, with its whole wire `value`."""

    kind: str
    value: dict[str, Json]


Block: TypeAlias = Text | Thinking | ToolUse | ToolResult | Opaque


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message: a role and its blocks."""

    role: Role
    blocks: tuple[Block, ...] = ()

    @property
    def text(self) -> str:
        """All text blocks, joined by newlines."""
        return "\n".join([block.text for block in self.blocks if isinstance(block, Text)])

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The calls of this message, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolUse)])

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The results of this message, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolResult)])


def parts(message: Message) -> int:
    """In how many rows a store may keep a message: one for each text, each call and each result."""
    texts = sum(isinstance(block, Text) and bool(block.text.strip()) for block in message.blocks)
    return max(1, texts + len(message.tool_uses) + len(message.tool_results))


def fitting(rows: Iterable[Message], most: int) -> int:
    """How many of the first rows have no more than `most` parts together."""
    return sum(size <= most for size in accumulate(map(parts, rows)))


class ToolSpec(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A tool as it is offered to the model: a JSON Schema for its input."""

    name: str
    description: str = ""
    input_schema: dict[str, Json] = {}

    @property
    def required(self) -> tuple[str, ...]:
        """The required names of the input; empty if the tool can be called with `{}`."""
        names = self.input_schema.get("required")
        return tuple(names) if isinstance(names, (list, tuple)) else ()


def builtin(value: Json) -> Json:
    """A value as JSON values of the built-in classes: frameworks pass subclasses of str, int, list
    and dict, which are converted.

    Raises TypeError for a value that is not JSON.
    """
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int():
            return int.__int__(value)
        case float():
            return float.__float__(value)
        case Mapping():
            return {_key(key): builtin(part) for key, part in value.items()}
        case list() | tuple():
            return [builtin(part) for part in value]
    raise TypeError(f"loop-harness: {type(value).__name__} is not a JSON value; pass text or JSON")


def _key(key: Json) -> str:
    """A key as JSON writes it: a number or a constant becomes its text."""
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, (int, float, NoneType)):
        return json.dumps(builtin(key))
    raise TypeError(
        f"loop-harness: {type(key).__name__} cannot be a key of a JSON object; pass text"
    )


def builtin_text(value: object, what: str) -> str:
    """A text of an agent as a plain string, "" for None.

    Raises TypeError, which names `what` it is, for anything else: an id of another
    type breaks every later look-up by it, far from the agent's mistake.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {type(value).__name__}")
    return str.__str__(value)


_sorted_json = msgspec.json.Encoder(order="sorted", enc_hook=builtin).encode

_MALFORMED = b"\xff"
"""A byte that JSON text never contains."""


def without_blanks(text: str) -> str:
    """A text without white space, which agents change in what they keep and send on."""
    return "".join(text.split())


HALVES = re.compile(r"[\ud800-\udfff\ufffd]|\\ud[89a-f][0-9a-f]{2}")
"""Halves of characters: raw, replaced, or as a history escapes them. No UTF-8 can carry them."""


def with_marks(text: str) -> str:
    """A text with `?` for each half of a character, as many encoders write it."""
    return text if text.isascii() and "\\ud" not in text else HALVES.sub("?", text)


def is_said_anew(
    words: str,
    newest: Sequence[Message],
    messages: Sequence[Message],
    before: Sequence[Message],
    told: Iterable[str] = (),
) -> bool:
    """Whether a request says words (without blanks) that the session's request `before` did not.

    They are a whole text of its `newest` messages, more often than in `before` at these places. Or
    all its `messages` hold them more often. A summary, which stands among the newest,
    repeats words that were said long ago, and a result has those that its tool `told`.
    """
    # Where old messages were left out, words of the assistant stand at these places.
    there = [m for m in before[len(messages) - len(newest) :] if m.role != "assistant"]
    if _times_whole(words, newest) > _times_whole(words, there):
        return True
    by_others = sum(without_blanks(text).count(words) for text in told)
    return _count(words, messages) > _count(words, before) + by_others


def _times_whole(words: str, messages: Sequence[Message]) -> int:
    texts = (b.text for message in messages for b in message.blocks if isinstance(b, Text))
    return sum(without_blanks(with_marks(text)) == words for text in texts)


def reads_alike(one: Message, other: Message) -> bool:
    """Whether two messages with results differ in their form alone.

    A result that is a text and one of a single block with that text are the same to an API: the
    text is the short form of the block. An agent writes a result as a block, and reads a text from
    its store.
    """
    if not one.tool_results or len(one.blocks) != len(other.blocks) or one.role != other.role:
        return False
    return all(map(_is_same_block, one.blocks, other.blocks))


def _is_same_block(one: Block, other: Block) -> bool:
    if not (isinstance(one, ToolResult) and isinstance(other, ToolResult)):
        return one == other
    is_same = (one.id, one.is_error, one.text) == (other.id, other.is_error, other.text)
    return is_same and _is_one_text(one) and _is_one_text(other)


def _is_one_text(result: ToolResult) -> bool:
    content = result.content
    return isinstance(content, str) or content == (Text(result.text),)


def _count(words: str, messages: Sequence[Message]) -> int:
    results = (result.text for message in messages for result in message.tool_results)
    texts = (*(message.text for message in messages), *results)
    return sum(without_blanks(text).count(words) for text in texts)


def mapped_texts(value: Json, change: Callable[[str], str]) -> Json:
    """A JSON value in which each text, of a key too, is what `change` makes of it."""
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return type(value)([mapped_texts(item, change) for item in value])
        case dict():
            pairs = value.items()
            return {mapped_texts(k, change): mapped_texts(v, change) for k, v in pairs}
    return value


def strings_in(value: Json) -> Iterator[str]:
    """The strings in a value; no names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings_in(part)


def printable(value: Json) -> Json:
    """A value as plain JSON, with each lone surrogate written out as its escape.

    Half an emoji is not Unicode text and cannot be written to a file. A provider can still send it,
    escaped, and it is data about the run.
    """
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case list() | tuple():
            return [printable(item) for item in value]
        case dict():
            return {printable(key): printable(item) for key, item in value.items()}
        case msgspec.Struct():
            return printable(msgspec.to_builtins(value))
    return value


def canonical(value: Json) -> str:
    """`value` as JSON with sorted keys: equal values give equal text."""
    try:
        return _sorted_json(value).decode()
    except UnicodeEncodeError:
        return _sorted_json(printable(value)).decode()


def digest(value: Json) -> str:
    """The name of a value: 20 hexadecimal digits over its canonical JSON."""
    return named(value)[0]


ABSENT = object()
"""The side of a difference that has no such part."""


def first_difference(a: Json, b: Json, path: str = "") -> tuple[str, Any, Any] | None:
    """The first place in which two JSON values differ, with the value of each there.

    A part that is missing on one side is `ABSENT`. None for equal values.

    >>> first_difference({"bill": 17, "rows": [1, 2]}, {"bill": 17, "rows": [1, 3]})
    ('rows[1]', 2, 3)
    """
    if a == b:
        return None
    while True:
        below = next(((name, x, y) for name, x, y in _parts(a, b) if x is ABSENT or x != y), None)
        if below is None:
            return path.removeprefix("."), a, b
        name, a, b = below
        path += f"[{name}]" if isinstance(name, int) else f".{name}"


def _parts(a: Any, b: Any) -> list[tuple[str | int, Any, Any]]:
    """The parts of two objects or two lists, side by side; [] for other values."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [(name, a.get(name, ABSENT), b.get(name, ABSENT)) for name in {**a, **b}]
    if isinstance(a, list) and isinstance(b, list):
        pairs = zip_longest(a, b, fillvalue=ABSENT)
        return [(n, x, y) for n, (x, y) in enumerate(pairs)]
    return []


def named(value: Json) -> tuple[str, bool]:
    """The digest, and whether the value is malformed: it holds half of a surrogate pair.

    A file holds the escape of such a value, and a well-formed text may spell out the same escape.
    So a malformed value has a different digest.
    """
    try:
        return blake2b(_sorted_json(value), digest_size=10).hexdigest(), False
    except UnicodeEncodeError:
        escaped = _sorted_json(printable(value)) + _MALFORMED
        return blake2b(escaped, digest_size=10).hexdigest(), True


def is_malformed(body: bytes) -> bool:
    """Whether a body is JSON except for half of a surrogate pair, which Python's reader accepts."""
    try:
        return named(json.loads(body))[1]
    except (ValueError, RecursionError):
        return False


def is_in_body(text: str, body: bytes) -> bool:
    """Whether a body of JSON holds a text, in either writing of what is not ASCII."""
    forms = (json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False))
    return bool(text) and any(form.encode(errors="replace") in body for form in forms)


def user(text: str) -> Message:
    """A user message of one text."""
    return Message("user", (Text(text),))


def assistant(*blocks: Block | str) -> Message:
    """An assistant message; a string is a text block."""
    return Message("assistant", tuple(Text(b) if isinstance(b, str) else b for b in blocks))


def results(*blocks: ToolResult) -> Message:
    """A user message that answers tool calls."""
    return Message("user", blocks)


def side(message: Message) -> Side:
    """Whose turn a message belongs to.

    Tool results count as the user's if they are in a user message; a message of role `tool` or
    `function` is a separate side.
    """
    return _SIDES.get(message.role, "user")


_SIDES: dict[str, Side] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
