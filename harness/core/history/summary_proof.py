"""How a summary is known that an agent made without saying so: by where its words come again."""

from __future__ import annotations

from harness.core.history.exchanges import Exchange
from harness.core.history.trace import Turn
from harness.core.values.messages import without_blanks

SUMMARY_LEAST = 24
"""The least characters of a summary without white space: a shorter answer may come by chance."""


def is_summary(last: Exchange, later: Exchange, turns: tuple[Turn, Turn], system: str) -> bool:
    """Whether a later request does not go on from the last one, and holds its answer as words of
    the user or of the system."""
    if later.node.first(last.node.depth) is last.node or last.reply is None:
        return False
    said = without_blanks(last.reply.text)
    known = [t.text for t in turns] + [s.request.text for t in turns for s in t.sendings]
    if len(said) < SUMMARY_LEAST or last.reply.tool_uses or not last.succeeded:
        return False
    if any(said in without_blanks(text) for text in known):
        return False  # a reply, which the agent keeps as text, or an echo of one
    words = [system, *(node.message.text for node in later.added if node.side != "assistant")]
    return any(said in without_blanks(text) for text in words)


def goes_on(exchange: Exchange, last: Exchange, before: Exchange | None) -> bool:
    """Whether a request for a summary belongs to the one before it. After calls that the model made
    in place of a summary it holds that one and more."""
    at, asked = last.node, bool(last.reply and last.reply.tool_uses)
    is_answer = asked and exchange.node is not at and exchange.node.first(at.depth) is at
    return is_answer or exchange.goes_on_from(last, before)
