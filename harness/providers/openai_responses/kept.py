"""What the server keeps: the responses and conversations of one session.

With `previous_response_id` or `conversation` a request names what came before instead of sending
it. So the reader must know what was answered, and only the wire's writing knows that. The two meet
here: the reader hands out a reading that knows its place in the conversation, and whoever writes
the answer to it puts the answer down at that place. An id follows from the key of the call, so the
same run gives the same ids. What is kept is bounded, as the provider's is by time.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.transition.ports import Reading
from harness.core.values.messages import Block, Json, Thinking, digest
from harness.core.values.plans import Reply
from harness.providers.openai_responses.items import kind_of, read
from harness.providers.openai_responses.path import Node, grown
from harness.providers.openai_responses.response import finished
from harness.providers.openai_responses.validator import Known

RESPONSES = 1000
"""How many responses are kept; the oldest goes first."""


class Kept:
    """The responses of one session, by id; conversations, by name; items that were given out."""

    def __init__(self) -> None:
        self._responses: dict[str, tuple[Node | None, Sequence[str]]] = {}
        self._conversations: dict[str, Node | None] = {}
        self._items: dict[str, Json] = {}
        self._reasoning: dict[str, str] = {}

    def known(self, *, stores: bool) -> Known:
        """What the validator must know of the items; `stores`: the request is to be kept."""
        return Known(self._items, self._reasoning, stores)

    def has(self, id_: str) -> bool:
        """Whether a response is kept."""
        return id_ in self._responses

    def end_of(self, response: str, conversation: str) -> Node | None:
        """Where a response, or else a conversation, ends; None for one that has nothing yet."""
        if response:
            return self._responses[response][0]
        return self._conversations.get(conversation)

    def put(self, id_: str, place: Place, output: Sequence[Json]) -> None:
        """Keep a response: its answer, at the place of its request."""
        end = grown(place.tip, output)
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
        """Note the items of an answer, and the reasoning that each of them follows."""
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


class Place:
    """The place of a request: its last item, and where its answer is to be kept."""

    __slots__ = ("_kept", "conversation", "stores", "tip")

    def __init__(self, kept: Kept, tip: Node | None, conversation: str, stores: bool) -> None:
        self._kept, self.tip = kept, tip
        self.conversation, self.stores = conversation, stores

    def answer(self, id_: str, output: Sequence[Json]) -> None:
        """The response `id_` with these items is the answer."""
        self._kept.put(id_, self, output)


class PlacedReading(Reading, frozen=True, gc=False):
    """A reading that knows its place."""

    place: Place | None = None

    def complete(self, reply: Reply) -> Reply:
        """The reply with the encrypted content of its reasoning, which follows from the text.

        One that ends with a refusal stops for it: nothing else can be said of it here.
        """
        refuses = reply.stop == "end_turn" and finished(reply.blocks) == "refusal"
        stop = "refusal" if refuses else reply.stop
        return msgspec.structs.replace(
            reply, blocks=tuple(map(_encrypted, reply.blocks)), stop=stop
        )


def _encrypted(block: Block) -> Block:
    if not isinstance(block, Thinking) or block.signature or block.redacted:
        return block
    hidden = f"gAAAAA{digest(block.text)}"
    return Thinking(block.text, signature=hidden) if block.text else Thinking(redacted=hidden)
