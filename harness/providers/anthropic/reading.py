"""A request of this API as a reading, with what its answer needs to know of it.

An answer is made from a script's value, which knows neither signatures nor threads. What the
provider adds of its own follows from the request: thinking and summaries are signed, a request for
a summary is answered by one, and an answer on a thread is kept for the next turn. A reading is
answered before its reader reads the next request.
"""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Reading
from harness.core.values.messages import Block, Json, Text, Thinking, ToolResult, ToolUse
from harness.core.values.plans import Reply
from harness.providers.anthropic import compaction
from harness.providers.anthropic.bindings import Bindings
from harness.providers.anthropic.thinking import dropped
from harness.providers.anthropic.threads import Turn

_PLAIN: frozenset[type[Block]] = frozenset({Text, ToolUse, ToolResult})
"""Blocks that a provider never adds to; nearly every reply has no others."""


class AnthropicReading(Reading, frozen=True, gc=False):
    """A reading with its reader's memory of thinking, and the thread that it is a turn of."""

    bindings: Bindings | None = None
    turn: Turn | None = None

    def complete(self, reply: Reply) -> Reply:
        """The reply as the provider gives it: with signatures, or as the summary asked for."""
        if "compaction" not in self.settings and _PLAIN.issuperset(map(type, reply.blocks)):
            return reply
        if self.settings.get("compaction") is not None:
            reply = compaction.summary_of(reply)
        if all(map(_is_whole, reply.blocks)):
            return reply
        place, blocks = 0, list[Block]()
        for block in reply.blocks:
            if isinstance(block, Thinking):
                blocks.append(self._signed(block, place))
                place += 1
            else:
                blocks.append(compaction.signed(block))
        return msgspec.structs.replace(reply, blocks=tuple(blocks))

    def _signed(self, block: Thinking, place: int) -> Thinking:
        if _is_whole(block) or self.bindings is None:
            return block
        return self.bindings.sign(block, place)

    def transformations(self) -> list[Json]:
        """What the provider left out of the request: thinking that was dropped."""
        if self.bindings is None or not self.bindings.flaws:
            return []
        return dropped(self.bindings, self.settings, self.model)


def _is_whole(block: Block) -> bool:
    """Whether the provider has nothing to add to a block."""
    if isinstance(block, Thinking):
        return bool(block.signature or block.redacted)
    return compaction.signed(block) is block
