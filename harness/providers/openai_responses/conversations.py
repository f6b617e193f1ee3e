"""Conversations as paths of items, and what the server stores of them.

A request may continue any stored response, so conversations are paths in one tree. A node has an
item, its predecessors and the validator's state. A move between paths costs only what they do not
share. Ids follow from the call's key. A count bounds storage; the provider bounds it by time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from harness.core.transition.ports import IssuedThinking, Reading, Violation
from harness.core.values.messages import Block, Json, Message, Thinking, digest, printable
from harness.core.values.plans import Reply
from harness.providers.openai_responses.blocks import ItemSaid, kind_of, read
from harness.providers.openai_responses.response import finished
from harness.providers.openai_responses.validator import (
    EMPTY,
    ItemState,
    KnownItems,
    finish,
    step,
)
from harness.providers.shared.reader import Fold


class ItemNode:
    """An item at its place; `joins`: it belongs to the message of the item before it."""

    __slots__ = ("depth", "joins", "parent", "said", "state")

    said: ItemSaid

    def __init__(self, parent: ItemNode | None, item: Json, state: ItemState) -> None:
        said, self.joins = read(item), False
        if parent is not None and parent.said.role == said.role:
            before = parent.said
            self.joins = said.role == "assistant" or before.answers
            if self.joins and before.is_message and said.is_message:
                said = read(item, after_message=True)
        self.parent, self.said, self.state = parent, said, state
        self.depth: int = parent.depth + 1 if parent else 1

    @classmethod
    def of(
        cls, parent: ItemNode | None, said: ItemSaid, state: ItemState, *, joins: bool
    ) -> ItemNode:
        """A node of which all is known but the item."""
        node = cls.__new__(cls)
        node.parent, node.said, node.state, node.joins = parent, said, state, joins
        node.depth = parent.depth + 1 if parent else 1
        return node


class ItemPath:
    """The conversation at which a reader stands, judged by the rules that are `active`."""

    def __init__(self, active: frozenset[str] = frozenset()) -> None:
        self.nodes: list[ItemNode] = []
        self.messages: list[Message] = []
        self._fold = Fold(EMPTY, active)
        self._starts: list[int] = []
        self._keep = 0

    @property
    def tip(self) -> ItemNode | None:
        """The last node."""
        return self.nodes[-1] if self.nodes else None

    @property
    def state(self) -> ItemState:
        """What the validator knows at the end."""
        return self._fold.state

    def take(self, item: Json, known: KnownItems, n: int) -> None:
        """Go on with input item `n` of a request."""
        fold = self._fold
        state = step(fold.state, n, item, fold.ids, known, fold.active)
        self.push(ItemNode(self.tip, item, state))

    def finish(self) -> tuple[Violation, ...]:
        """All violations of a conversation that ends here."""
        return finish(self._fold.state, self._fold.active)

    def begin(self) -> None:
        """A new request: what is kept of the messages is counted from here."""
        self._keep = len(self.messages)

    def go(self, tip: ItemNode | None) -> None:
        """Stand at another node."""
        more: list[ItemNode] = []
        node = tip
        while node is not None and not self._holds(node):
            more.append(node)
            node = node.parent
        self.cut(node.depth if node else 0)
        for node in reversed(more):
            self.push(node)

    def _holds(self, node: ItemNode) -> bool:
        return node.depth <= len(self.nodes) and self.nodes[node.depth - 1] is node

    def cut(self, depth: int) -> None:
        """Go back to the first `depth` items."""
        del self.nodes[depth:]
        self._fold.rewind(depth)
        whole = bisect_left(self._starts, depth)
        del self.messages[whole:], self._starts[whole:]
        self._keep = min(self._keep, whole)
        if whole and (held := self._starts[-1]) < depth:
            self._remake(held)

    def _remake(self, start: int) -> None:
        said = [node.said for node in self.nodes[start:]]
        message = Message(said[0].role, tuple(block for s in said for block in s.blocks))
        if message != self.messages[-1]:
            self.messages[-1] = message
            self._keep = min(self._keep, len(self.messages) - 1)

    def push(self, node: ItemNode) -> None:
        """Go one item on."""
        said = node.said
        if node.joins:
            blocks: tuple[Block, ...] = self.messages[-1].blocks + said.blocks
            self.messages[-1] = Message(said.role, blocks)
            self._keep = min(self._keep, len(self.messages) - 1)
        else:
            self._starts.append(len(self.nodes))
            self.messages.append(Message(said.role, said.blocks))
        self.nodes.append(node)
        self._fold.push(node.state)

    def kept(self) -> tuple[int, Sequence[Message]]:
        """How many messages stand as before `begin`, and all of them."""
        return self._keep, tuple(self.messages)


RESPONSES = 1000
"""How many responses are kept; the oldest goes first."""


class Conversations:
    """The responses of one session, by id; conversations, by name; items that were given out."""

    def __init__(self) -> None:
        self._responses: dict[str, tuple[ItemNode | None, Sequence[str]]] = {}
        self._conversations: dict[str, ItemNode | None] = {}
        self._items: dict[str, Json] = {}
        self._reasoning: dict[str, str] = {}
        self.issued: IssuedThinking | None = None
        """What was encrypted in this run; None takes any encrypted content."""

    def kept(self) -> bytes:
        """All of it, for another process."""
        rows = _Rows()
        ends = {id_: (rows.number(tip), names) for id_, (tip, names) in self._responses.items()}
        named = {name: rows.number(tip) for name, tip in self._conversations.items()}
        kept = _Kept(rows.rows, ends, named, self._items, self._reasoning)
        return msgspec.msgpack.encode(kept) if ends or named else b""

    def keep(self, kept: bytes) -> None:
        """Take over what another process kept."""
        held, nodes = msgspec.msgpack.decode(kept, type=_Kept), list[ItemNode | None]([None])
        for row in held.rows:
            nodes.append(ItemNode.of(nodes[row.parent], row.said, row.state, joins=row.joins))
        self._responses = {id_: (nodes[n], names) for id_, (n, names) in held.responses.items()}
        self._conversations = {name: nodes[n] for name, n in held.conversations.items()}
        self._items, self._reasoning = held.items, held.reasoning

    def known(self, *, stores: bool) -> KnownItems:
        """What the validator must know of the items; `stores`: the request is to be kept."""
        return KnownItems(self._items, self._reasoning, stores, self.issued)

    def has(self, id_: str) -> bool:
        """Whether a response is kept."""
        return id_ in self._responses

    def end_of(self, response: str, conversation: str) -> ItemNode | None:
        """Where a response, or else a conversation, ends; None for one that has nothing yet."""
        if response:
            return self._responses[response][0]
        return self._conversations.get(conversation)

    def put(self, id_: str, place: Place, output: Sequence[Json]) -> None:
        """Keep a response: its answer, taken as it is, at the place of its request. No server
        stores half a character, so a request that goes on from it sends none."""
        end, output = place.tip, [printable(item) for item in output]
        for item in output:
            end = ItemNode(end, item, (end.state if end else EMPTY).answered(item))
        if place.conversation:
            self._conversations[place.conversation] = end
        if not place.stores:
            return
        self._responses[id_] = end, [*self._note(output)]
        if len(self._responses) > RESPONSES:
            _, names = self._responses.pop(next(iter(self._responses)))
            for name in names:
                self._items.pop(name, None)
                self._reasoning.pop(name, None)

    def _note(self, output: Sequence[Json]) -> list[str]:
        names, reasoning = [], ""
        for item in output:
            id_ = item.get("id") if isinstance(item, dict) else None
            if not isinstance(id_, str):
                continue
            names.append(id_)
            self._items[id_] = item
            if kind_of(item) == "reasoning":
                reasoning = id_
            elif reasoning and read(item).role == "assistant":
                self._reasoning[id_] = reasoning
        return names


class _Row(NamedTuple):
    """A node, by the number of its parent; 0 is none."""

    parent: int
    said: ItemSaid
    state: ItemState
    joins: bool


class _Rows:
    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self._numbers: dict[ItemNode | None, int] = {None: 0}

    def number(self, tip: ItemNode | None) -> int:
        """The number of a node, which has a row from now on, as have those before it."""
        new, node = list[ItemNode](), tip
        while node is not None and node not in self._numbers:
            new.append(node)
            node = node.parent
        for each in reversed(new):
            parent = self._numbers[each.parent]
            self.rows.append(_Row(parent, each.said, each.state, each.joins))
            self._numbers[each] = len(self.rows)
        return self._numbers[tip]


class _Kept(msgspec.Struct):
    rows: list[_Row]
    responses: dict[str, tuple[int, Sequence[str]]]
    conversations: dict[str, int]
    items: dict[str, Any]
    reasoning: dict[str, str]


class Place(msgspec.Struct, frozen=True, eq=False):
    """The place of a request: its last item, and where its answer is to be kept."""

    stored: Conversations
    tip: ItemNode | None
    conversation: str
    stores: bool


class PlacedReading(Reading, frozen=True, gc=False):
    """A reading that knows its place."""

    place: Place | None = None

    def complete(self, reply: Reply) -> Reply:
        """The reply with the encrypted content of its reasoning, which follows from the text.

        One that ends in order stops for what it says: nothing else can be said of it here.
        """
        stop = finished(reply.blocks) if reply.stop in _IN_ORDER else reply.stop
        return self.signed(msgspec.structs.replace(reply, stop=stop))

    def signed(self, reply: Reply) -> Reply:
        """The reply with its reasoning encrypted."""
        return msgspec.structs.replace(reply, blocks=tuple(map(_encrypted, reply.blocks)))


_IN_ORDER = frozenset({"end_turn", "tool_use"})
"""Stop reasons of other APIs. This one says of an answer that came to its end that it is
`completed`, with calls and without."""


def _encrypted(block: Block) -> Block:
    if not isinstance(block, Thinking) or block.signature or block.redacted:
        return block
    hidden = f"gAAAAA{digest(block.text)}"
    return Thinking(block.text, signature=hidden) if block.text else Thinking(redacted=hidden)
