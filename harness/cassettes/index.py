"""The exchanges of a cassette by key: which ones answer a request, in recorded order.

The recorded requests are paths in one tree of messages, in which a live request is looked up by
walking on from where the last one ended. So a call costs what is new in it, however long the run
and the file are. A live message that is not there as it is may be there masked, for a recording
holds no keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from harness import wires
from harness.cassettes.key import Head, head_of_reading, masked_message, name_head
from harness.cassettes.read import Exchange
from harness.core.draws import Draws
from harness.core.message_tree import Node, grow, root
from harness.core.messages import Message, digest
from harness.core.plans import Recorded
from harness.core.ports import Wire

_NO_DRAWS = Draws(0)


class Entry(msgspec.Struct, frozen=True):
    """A call to a model: its place in the file (from 1), its request and its answer."""

    number: int
    head: Head
    node: Node
    answer: Recorded


class Index:
    """The calls of a cassette. A turn is a place in `entries`, which stand in recorded order."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._root = root()
        self.entries = tuple(_entries(exchanges, self._root))
        self._turns: dict[tuple[Node, str], list[int]] = {}
        names: dict[int, str] = {}
        for turn, entry in enumerate(self.entries):
            name = names.setdefault(id(entry.head), "") or name_head(entry.head)
            names[id(entry.head)] = name
            self._turns.setdefault((entry.node, name), []).append(turn)

    def turns(self, node: Node, head: str) -> Sequence[int]:
        """The turns that answer a request, in recorded order."""
        return self._turns.get((node, head), ())

    def find(self, messages: Iterable[Message]) -> Node:
        """The place of a list of messages."""
        return self.walk(self._root, ((digest(m), m) for m in messages))

    def walk(self, node: Node, messages: Iterable[tuple[str, Message]]) -> Node:
        """The place of the list at `node` with these messages (digest and value) added."""
        for name, message in messages:
            if name not in node.children:
                masked = masked_message(message)
                if masked != message:
                    name, message = digest(masked), masked
            node = node.child(name, message)
        return node


def _entries(exchanges: Iterable[Exchange], start: Node) -> Iterable[Entry]:
    readers: dict[str, _Reader] = {}
    for exchange in exchanges:
        wire = wire_of(exchange.method, exchange.path)
        if wire is not None:
            if wire.name not in readers:
                readers[wire.name] = _Reader(wire, start)
            head, node = readers[wire.name].read(exchange)
            yield Entry(exchange.number, head, node, exchange.answer)


def wire_of(method: str, path: str) -> Wire | None:
    """The wire that a request speaks, whatever stands before the endpoint; None for no model."""
    if method != "POST":
        return None
    known = map(wires.by_name, wires.names())
    return next((w for w in known if path.endswith(w.paths())), None)


class _Reader:
    """Reads the recorded requests of one wire; most are the last one and a little more."""

    def __init__(self, wire: Wire, start: Node) -> None:
        self._wire, self._reader, self._node = wire, wire.reader("", None), start
        self._head = Head("")

    def read(self, exchange: Exchange) -> tuple[Head, Node]:
        """A request's head and place; equal heads in a row are one object.

        The answer is written once, as it will be when it is played: where the server keeps the
        history, what is read next depends on it.
        """
        reading = self._reader.read(exchange.body)
        self._wire.write(exchange.answer, reading, "", _NO_DRAWS)
        named = ((digest(m), m) for m in reading.added)
        self._node = grow(self._node.first(reading.keep), named)
        head = head_of_reading(reading)
        if head != self._head:
            self._head = head
        return self._head, self._node
