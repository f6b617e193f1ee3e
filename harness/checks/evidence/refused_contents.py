"""Which content of a request the provider refused, and whether a later request holds it again.

The answer is a 400 with the provider's words, which differ by provider and version. So the reason
is read from the fault that struck, which strikes only requests that hold its content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.checks.evidence.turn_outcomes import fails_for_good
from harness.core.history.exchanges import Exchange, Node
from harness.core.history.trace import Turn
from harness.core.values.messages import ToolResult, canonical
from harness.core.values.pictures import pictures_in

_WORDS = {
    "http.picture_refused": "a picture",
    "http.thinking_type_refused": "a type of thinking",
    "http.system_role_refused": "a system message",
    "http.tightened_whitespace": "a blank text",
    "http.prefill_refused": "an answer begun for the model",
    "http.tools_refused": "a list of tools",
    "http.previous_response_not_found": "the name of a stored answer",
}
"""The content that a fault refuses for as long as a request holds it."""

_PICTURE, _TOOLS, _STORED = "a picture", "a list of tools", "the name of a stored answer"


def refused_content(exchange: Exchange) -> str:
    """The content for which the provider refused a request, in words; "" for another answer."""
    if exchange.answered is None or not fails_for_good(exchange):
        return ""
    return next((_WORDS[fault] for fault in exchange.answered.faults if fault in _WORDS), "")


def is_sent_again(refused: Exchange, again: Exchange, turn: Turn) -> bool:
    """Whether a refused request of a later turn holds all that an earlier one was refused for.

    A part of it is a step to find what is wrong, and so is another list of tools. Another stored
    answer may still be held. A picture that comes with the message of the `turn`, or as the result
    of a later call, is another one.
    """
    asked, same = again.request, refused_content(again) == refused_content(refused)
    if not same or asked.model != refused.request.model or _api(refused) != _api(again):
        return False
    if refused_content(refused) == _TOOLS:
        return asked.tools == refused.request.tools
    if refused_content(refused) == _STORED:
        return asked.settings == refused.request.settings  # the name is one of these fields
    if refused_content(refused) != _PICTURE:
        return True
    had, has = _pictures(refused.node.back()), _pictures(_without_new(again.node, turn))
    return bool(had) and had <= has


def _api(exchange: Exchange) -> tuple[str, str]:
    return exchange.called.provider, exchange.called.route


def _without_new(node: Node, turn: Turn) -> Iterator[Node]:
    """The messages of a request, without those that hold the words of the turn's message."""
    said = turn.text.strip()
    return (each for each in node.back() if not said or said not in each.message.text)


def _pictures(nodes: Iterator[Node]) -> Counter[tuple[str, str]]:
    """The pictures of messages, each with the call whose result it is a part of."""
    found: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        for block in node.message.blocks:
            call = block.id if isinstance(block, ToolResult) else ""
            found.update((call, canonical(picture.value)) for picture in pictures_in(block))
    return found
