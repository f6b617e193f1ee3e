"""The exchanges of a cassette by key: which ones answer a request, in recorded order.

The recorded requests are paths in one tree of messages, in which a live request is looked up by
walking on from where the last one ended. So a call costs what is new in it, however long the run
and the file are. A live message that is not there as it is may be there masked, for a recording
holds no keys; one of the system is looked up without what changes from day to day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from harness.cassettes.endpoints import wire_of
from harness.cassettes.key import (
    Head,
    head_of_reading,
    lasting_message,
    masked_message,
    name_head,
    name_message,
)
from harness.cassettes.read import Exchange
from harness.core.history.message_tree import Node, grow, root
from harness.core.transition.ports import Provider
from harness.core.values.draws import Draws
from harness.core.values.messages import Message, digest, side
from harness.core.values.plans import Recorded

_NO_DRAWS = Draws(0)


class Entry(msgspec.Struct, frozen=True):
    """A call to a model: its place in the file (from 1), its request and its answer.

    `name` is the digest of its head.
    """

    number: int
    head: Head
    name: str
    node: Node
    answer: Recorded


class Index:
    """The calls of a cassette on one wire. A turn is a place in `entries`, in recorded order.

    A request's bytes are read and let go, so a file may be larger than memory when it is whole.
    """

    def __init__(self, exchanges: Iterable[Exchange] = ()) -> None:
        self._root = root()
        self._readers: dict[str, _Reader] = {}
        self._turns: dict[tuple[Node, str], list[int]] = {}
        self.entries: list[Entry] = []
        for exchange in exchanges:
            self.add(exchange)

    def add(self, exchange: Exchange) -> None:
        """Add the next call of the recording."""
        wire = wire_of(exchange.method, exchange.path)
        assert wire is not None, exchange.path
        if wire.name not in self._readers:
            self._readers[wire.name] = _Reader(wire, self._root)
        entry = self._readers[wire.name].read(exchange)
        self._turns.setdefault((entry.node, entry.name), []).append(len(self.entries))
        self.entries.append(entry)

    def turns(self, node: Node, head: str) -> Sequence[int]:
        """The turns that answer a request, in recorded order."""
        return self._turns.get((node, head), ())

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
            node = node.child(name, message)
        return node


class _Reader:
    """Reads the recorded requests of one wire; most are the last one and a little more."""

    def __init__(self, wire: Provider, start: Node) -> None:
        self._wire, self._reader, self._node = wire, wire.reader("", None), start
        self._head, self._name = Head(""), name_head(Head(""))

    def read(self, exchange: Exchange) -> Entry:
        """The entry of a call; equal heads in a row are one object.

        The answer is written once, as it will be when it is played: where the server keeps the
        history, what is read next depends on it.
        """
        reading = self._reader.read(exchange.body)
        self._wire.write(exchange.answer, reading, "", _NO_DRAWS)
        named = ((name_message(m), m) for m in reading.added)
        self._node = grow(self._node.first(reading.keep), named)
        head = head_of_reading(reading)
        if head != self._head:
            self._head, self._name = head, name_head(head)
        return Entry(exchange.number, self._head, self._name, self._node, exchange.answer)
