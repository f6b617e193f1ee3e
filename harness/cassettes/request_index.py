"""The exchanges of a cassette by key: which ones answer a request, in recorded order.

The key is the digests of the messages and one digest of the other settings. Host, query and headers
do not affect the answer. Recorded requests are paths in one tree of messages. Lookup continues
where the last request ended, so a call costs only its new messages. Recordings hold no keys, so a
missing live message is looked up masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from harness.cassettes.cassette_file import CassetteExchange, wire_of
from harness.core.history.exchanges import Node, grow, root
from harness.core.transition.ports import Provider, Reading
from harness.core.values.calls import Call, ModelRequest
from harness.core.values.draws import Draws
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Text,
    ToolResult,
    ToolUse,
    digest,
    side,
)
from harness.core.values.plans import Recorded
from harness.redaction.masking import mask_value

VOLATILE_FIELDS = frozenset((
    "cache_control", "metadata", "prompt_cache_key", "prompt_cache_retention",
    "safety_identifier", "user",
))  # fmt: skip
"""Fields of a body that do not count: they name a user, a cache or a price."""

VOLATILE_TEXTS: dict[str, str] = {
    "uuid": r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    "date": (
        r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    ),
}
"""What does not count in the text of the system, by name; there it reads `<name>`.

Agents put dates and ids there anew each day.
"""

_VOLATILE_TEXT = re.compile(
    "|".join(f"(?P<{name}>{shape})" for name, shape in VOLATILE_TEXTS.items())
)


class RequestHead(msgspec.Struct, frozen=True):
    """A request without its messages, as values; its digest is the head's part of the key."""

    model: str
    system: Json = ""
    tools: list[Json] = []
    tools_offered: bool = False
    max_tokens: int | None = None
    stream: bool = False
    settings: dict[str, Json] = {}


def head_of_reading(reading: Reading) -> RequestHead:
    """The head of a recorded request."""
    return _head(reading, reading)


def head_of_call(call: Call) -> RequestHead:
    """The head of a live request."""
    request = call.request
    assert isinstance(request, ModelRequest), request
    return _head(request, call)


def _head(asked: Reading | ModelRequest, held: Reading | Call) -> RequestHead:
    return RequestHead(
        asked.model,
        held.system,
        [msgspec.to_builtins(tool) for tool in held.tools],
        asked.tools_offered,
        asked.max_tokens,
        asked.stream,
        {name: value for name, value in held.settings.items() if name not in VOLATILE_FIELDS},
    )


def masked_head(head: RequestHead) -> RequestHead:
    """The head as a recording would hold it."""
    return msgspec.convert(mask_value(msgspec.to_builtins(head)), type=RequestHead)


def masked_message(message: Message) -> Message:
    """The message as a recording would hold it."""
    return msgspec.convert(mask_value(msgspec.to_builtins(message)), type=Message)


def name_head(head: RequestHead) -> str:
    """The digest of a head, without what is volatile in its system text."""
    return digest(lasting_head(head))


def lasting_head(head: RequestHead) -> RequestHead:
    """The head without what is volatile in its system text."""
    if not isinstance(head.system, str):
        return head
    return msgspec.structs.replace(head, system=lasting_text(head.system))


def lasting_message(message: Message) -> Message:
    """A message of the system without what is volatile in its text."""
    return msgspec.structs.replace(
        message,
        blocks=tuple(
            msgspec.structs.replace(block, text=lasting_text(block.text))
            if isinstance(block, Text)
            else block
            for block in message.blocks
        ),
    )


def lasting_text(text: str) -> str:
    """A text with what is volatile replaced by its name."""
    return _VOLATILE_TEXT.sub(lambda found: f"<{found.lastgroup}>", text)


def name_message(message: Message) -> str:
    """The digest of a message, without what is volatile if it is the system's."""
    return digest(lasting_message(message) if side(message) == "system" else message)


_NO_DRAWS = Draws(0)


class IndexedCall(msgspec.Struct, frozen=True):
    """A call to a model: its place in the file (from 1), its request and its answer.

    `name` is the digest of its head, `wire` the provider that was asked.
    """

    number: int
    head: RequestHead
    name: str
    node: Node
    answer: Recorded
    wire: str


class CassetteIndex:
    """The calls of a cassette. A turn is a place in `entries`, in recorded order.

    Two APIs of one provider may get equal requests, so a turn answers requests of its wire alone.

    A request's bytes are read and let go, so a file may be larger than memory when it is whole.
    """

    def __init__(self, exchanges: Iterable[CassetteExchange] = ()) -> None:
        self._root = root()
        self._readers: dict[str, _RequestReader] = {}
        self._turns: dict[tuple[str, Node, str], list[int]] = {}
        self.entries: list[IndexedCall] = []
        for exchange in exchanges:
            self.add(exchange)

    def add(self, exchange: CassetteExchange) -> None:
        """Add the next call of the recording."""
        wire = wire_of(exchange.method, exchange.path)
        assert wire is not None, exchange.path
        if wire.name not in self._readers:
            self._readers[wire.name] = _RequestReader(wire, self._root)
        entry = self._readers[wire.name].read(exchange)
        place = wire.name, entry.node, entry.name
        self._turns.setdefault(place, []).append(len(self.entries))
        self.entries.append(entry)

    def turns(self, wire: str, node: Node, head: str) -> Sequence[int]:
        """The turns that answer a request on a wire, in recorded order."""
        return self._turns.get((wire, node, head), ())

    def find(self, messages: Iterable[Message]) -> Node:
        """The place of a list of messages."""
        return self.walk(self._root, ((digest(m), m) for m in messages))

    def walk(self, node: Node, messages: Iterable[tuple[str, Message]]) -> Node:
        """The place of the list at `node` with these messages (digest and value) added."""
        for name, message in messages:
            if side(message) == "system":
                message = lasting_message(message)
                name = digest(message)
            if name not in node.children:
                masked = masked_message(message)
                if masked != message:
                    name, message = digest(masked), masked
            if name not in node.children:
                name, message = _respelt(node, message) or (name, message)
            node = node.child(name, message)
        return node


_MADE_ID = re.compile(
    r"(?<![0-9a-zA-Z])[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?![0-9a-zA-Z])"
)
"""A UUID within an id: clients make one for a call that its provider gave no id."""


def _respelt(node: Node, message: Message) -> tuple[str, Message] | None:
    """The recorded message at this place that says the same of its calls and their results."""
    if not any(isinstance(block, (ToolUse, ToolResult)) for block in message.blocks):
        return None
    wanted = _plainly(message)
    return next(
        ((name, child.message) for name, child in node.children.items()
         if _plainly(child.message) == wanted),
        None,
    )  # fmt: skip


def _plainly(message: Message) -> Message:
    """A message without made ids; a result that is one block of text is that text.

    The APIs take both forms of a result alike, and clients change from one to the other.
    """
    return msgspec.structs.replace(message, blocks=tuple(map(_plain_block, message.blocks)))


def _plain_block(block: Block) -> Block:
    if not isinstance(block, (ToolUse, ToolResult)):
        return block
    block = msgspec.structs.replace(block, id=_MADE_ID.sub("<uuid>", block.id))
    match block:
        case ToolResult(content=(Text(text=text),)):
            return msgspec.structs.replace(block, content=text)
    return block


class _RequestReader:
    """Reads recorded requests of one provider; most extend the previous one."""

    def __init__(self, wire: Provider, start: Node) -> None:
        self._wire, self._reader, self._node = wire, wire.reader("", None), start
        self._head, self._name = RequestHead(""), name_head(RequestHead(""))

    def read(self, exchange: CassetteExchange) -> IndexedCall:
        """The entry of a call; equal heads in a row are one object.

        The answer is written in its played form: where the server keeps the history, later reads
        need it.
        """
        body = self._wire.complete_body(exchange.path, exchange.query, exchange.body)
        reading = self._reader.read(body)
        self._wire.write(exchange.answer, reading, "", _NO_DRAWS)
        named = ((name_message(m), m) for m in reading.added)
        self._node = grow(self._node.first(reading.keep), named)
        head = head_of_reading(reading)
        if head != self._head:
            self._head, self._name = head, name_head(head)
        wire, answer = self._wire.name, exchange.answer
        return IndexedCall(exchange.number, self._head, self._name, self._node, answer, wire)
