"""The shape of a message: its role and its blocks, with calls by tool and input, without prose.

Values are compared without the parts that are new in each run: UUIDs, times, loopback ports,
scratch folders. A result names the call that it answers by its place, because ids are new in each
run. A user text that is an inbound message of the scenario is distinguished from any other text.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import urlsplit

from harness.core.history.exchanges import Exchange, Node
from harness.core.history.trace import Trace
from harness.core.values.machine_names import LOOPBACK_HOSTS, SCRATCH_PREFIX
from harness.core.values.messages import (
    Block,
    Json,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    canonical,
)
from harness.core.values.tool_names import ToolNames

Shape: TypeAlias = tuple[str, ...]
"""The role of a message, and the words of its blocks."""

TELLING_MIN = 12
"""The number of characters from which an inbound text is recognised within a longer one."""


class MessageShapes:
    """The shapes of the messages of one history.

    `numbers` gives each list of shapes a number, and both histories share it: two lists with one
    number are equal. `names` maps the agent's tool names to those of the scenario; the agent's
    names are compared with the frames.
    """

    def __init__(self, trace: Trace, numbers: dict[tuple[int, Shape], int]) -> None:
        self._numbers = numbers
        self._asked = {ask.use.id: ask.use.input for ask in trace.asks}
        self._inbound = _inbound_names(trace)
        self.names = ToolNames(trace.settings.get("tools", {}), trace.profile)
        self._known: dict[Node, tuple[Shape, int]] = {}

    def number(self, exchange: Exchange) -> int:
        """The number of the messages of a request."""
        return self._of(exchange.node)[1]

    def shapes(self, exchange: Exchange) -> list[Shape]:
        """The shapes of the messages of a request."""
        return [self._of(node)[0] for node in exchange.node.tail()]

    def _of(self, node: Node) -> tuple[Shape, int]:
        """The shape of a node's message, and the number of the list that ends with it."""
        unknown: list[Node] = []
        at: Node | None = node
        while at is not None and at.depth and at not in self._known:
            unknown.append(at)
            at = at.parent
        for each in reversed(unknown):
            shape, before = self._shape(each), self._known.get(each.parent) if each.parent else None
            key = (before[1] if before else 0, shape)
            self._known[each] = shape, self._numbers.setdefault(key, len(self._numbers) + 1)
        return self._known.get(node, ((), 0))

    def _shape(self, node: Node) -> Shape:
        return (node.message.role, *(self._block(block, node) for block in node.message.blocks))

    def _block(self, block: Block, node: Node) -> str:
        match block:
            case Text(text):
                return self._text(text) if node.side == "user" else _text("text", text)
            case Thinking():
                return "thinking"
            case ToolUse(id, name, value):
                meant = self.names.meant_by(name)
                return f"use {meant} {canonical(stable(value, self._asked.get(id)))}"
            case ToolResult(id, _, is_error):
                kind = _text("error" if is_error else "result", block.text)
                return f"{kind} of {self._place(node, id)}"
        return block.kind

    def _text(self, text: str) -> str:
        name = self._inbound.get(text.strip()) or next(
            (n for said, n in self._inbound.items() if len(said) >= TELLING_MIN and said in text),
            "",
        )
        return f"text {name}" if name else _text("text", text)

    def _place(self, node: Node, id: str) -> str:
        """The newest call with this id before a message: its tool, and its distance in messages."""
        back, at = 1, node.parent
        while at is not None and at.depth:
            for number, use in enumerate(at.message.tool_uses, 1):
                if use.id == id:
                    return f"{self.names.meant_by(use.name)}, call {number}, {back} back"
            back, at = back + 1, at.parent
        return "no call"


def _text(kind: str, text: str) -> str:
    return kind if text.strip() else f"empty {kind}"


def _inbound_names(trace: Trace) -> Mapping[str, str]:
    """Map each text of the user to the name of the first message with it; the longest texts
    first."""
    found: dict[str, str] = {}
    for delivery in trace.deliveries:
        text = delivery.inbound.text.strip()
        if text:
            found.setdefault(text, delivery.inbound.id)
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def first_unlike(before: list[Shape], after: list[Shape]) -> tuple[int, Shape, Shape] | None:
    """The first place, from 1, at which two lists of shapes differ; () for a missing message."""
    pairs = zip_longest(before, after, fillvalue=())
    return next(((n, a, b) for n, (a, b) in enumerate(pairs, 1) if a != b), None)


def shape_words(shape: Shape) -> str:
    """A shape as a report prints it.

    >>> shape_words(("user", "text m1")), shape_words(())
    ('user: text m1', 'none')
    """
    if not shape:
        return "none"
    role, *said = shape
    return f"{role}: {', '.join(said) or 'nothing'}"


_UUID_DIGITS = (8, 4, 4, 4, 12)
_HEX = frozenset("0123456789abcdefABCDEF")
_NOTHING = object()


def stable(value: Json, asked: object = _NOTHING) -> Json:
    """The value with a placeholder for each text that is new in each run.

    A text is replaced only if the whole text is such a value. `asked` is the value in the model's
    call. A part that is equal to it stays: it comes from the scenario, so it is equal in both runs.

    >>> stable({"day": "2026-05-01", "at": "2026-05-01T10:00:00.5+00:00"}, {"day": "2026-05-01"})
    {'day': '2026-05-01', 'at': '<time>'}
    """
    if value == asked:
        return value
    match value:
        case str():
            return _stable_text(value)
        case dict():
            known = asked if isinstance(asked, dict) else {}
            return {key: stable(part, known.get(key, _NOTHING)) for key, part in value.items()}
        case list() | tuple():
            of = asked if isinstance(asked, (list, tuple)) else ()
            known_at = zip_longest(value, of[: len(value)], fillvalue=_NOTHING)
            return [stable(part, its) for part, its in known_at]
    return value


def _stable_text(text: str) -> str:
    if _is_uuid(text):
        return "<uuid>"
    if _is_time(text):
        return "<time>"
    return _without_folder(_without_port(text))


def _is_uuid(text: str) -> bool:
    parts = text.split("-")
    return tuple(map(len, parts)) == _UUID_DIGITS and _HEX.issuperset("".join(parts))


def _is_time(text: str) -> bool:
    """Whether it is a date with a time of day; a date alone may be an argument of the task."""
    if len(text) < len("2026-05-01T10:00") or not text[:4].isdigit():
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _without_port(text: str) -> str:
    if "://" not in text:
        return text
    try:
        url = urlsplit(text)
        known = url.hostname in LOOPBACK_HOSTS
    except ValueError:
        return text
    return url._replace(netloc="<loopback>").geturl() if known else text


def _without_folder(text: str) -> str:
    """The text as a path below a scratch folder, if it is one."""
    if not text.startswith("/") or SCRATCH_PREFIX not in text:
        return text
    parts = PurePosixPath(text).parts
    place = next((n for n, part in enumerate(parts) if part.startswith(SCRATCH_PREFIX)), None)
    return text if place is None else "/".join(("<scratch>", *parts[place + 1 :]))
