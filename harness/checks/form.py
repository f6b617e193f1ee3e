"""The form of requests, whatever the dialect says: blanks, text, and the last word.

A dialect refuses some of this, and `valid_request` then says so; these checks speak where it is
silent, for what one provider merges or overlooks is refused by the next one, and by the same one
next year. Each looks at a message once, where it first appears.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.message_lists import first_seen
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.message_tree import Node
from harness.core.transition.ports import needs
from harness.core.values.messages import Text, ToolResult
from harness.core.values.verdict import Finding


@needs("model")
def nonblank_content(history: History, *, results: bool = False) -> Iterator[Finding]:
    """No message of a request is empty, and no text block of one is blank.

    `empty`: a message without content, but for an assistant's at the end. `blank`: a text of white
    space only. Asked of requests that the dialect accepts. Not meant: a tool result without text,
    unless `results` is set, for the API takes it and some gateways do not; and a log, which keeps
    what the model said and not what was sent. Models do answer with a blank, and what was stored
    unseen makes every later request fail. An agent mends it by leaving blank texts out of what it
    sends, whatever is stored. Source: invariant 3; NousResearch/hermes-agent#70475.
    """
    if any(start.inferred for start in history.trace.starts):
        return
    for exchange, nodes in first_seen(history.trace):
        for node in nodes:
            before = node.parent
            if before is not None and _is_empty_reply(before):
                yield _not_blank(exchange, before, "empty")
            if not node.message.blocks and not _is_empty_reply(node):
                yield _not_blank(exchange, node, "empty")
            elif _is_blank(node, results):
                yield _not_blank(exchange, node, "blank")


def _not_blank(exchange: Exchange, node: Node, rule: str) -> Finding:
    text = f"{exchange.called.key}: message {node.depth - 1} ({node.side}) is {rule}"
    return Finding(f"nonblank_content.{rule}", text, (exchange.n,))


def _is_empty_reply(node: Node) -> bool:
    """Whether it is an assistant's message without content, which may stand at the end alone."""
    return not node.message.blocks and node.side == "assistant"


def _is_blank(node: Node, results: bool) -> bool:
    blocks = node.message.blocks
    texts = [block.text for block in blocks if isinstance(block, Text)]
    if results:
        texts += [b.text for b in blocks if isinstance(b, ToolResult) and _is_text(b)]
    return any(not text.strip() for text in texts)


def _is_text(result: ToolResult) -> bool:
    """Whether a result is text, or nothing: one of pictures alone is no blank."""
    return isinstance(result.content, str) or all(isinstance(b, Text) for b in result.content)


@needs("model")
def wellformed_text(history: History) -> Iterator[Finding]:
    """What is sent and what is stored is Unicode text: no half of a surrogate pair.

    `request`: a message, the system text or a tool of a request holds one; `row`: a stored row.
    Half an emoji fits into no file and into no request; once stored, it breaks every turn that
    follows. Not meant: a whole emoji, its two halves in two deltas put together again, and a text
    that spells the escape out. An agent mends it by replacing what does not encode before it stores
    or sends a text, whoever wrote it. Source: invariant 4; anthropics/claude-code#86560.
    """
    trace, told = history.trace, set[str]()
    for exchange in trace.exchanges:
        request = exchange.request
        if exchange.called.malformed:
            text = f"{exchange.called.key} holds half a character, and cannot be read"
            yield Finding("wellformed_text.request", text, (exchange.n,))
        for name in (request.system, request.tools, *request.messages):
            if name in trace.malformed and name not in told:
                told.add(name)
                text = f"{exchange.called.key} holds half a character"
                yield Finding("wellformed_text.request", text, (exchange.n,))
    for event in trace.stored if trace.malformed else ():
        for row in (*event.added, *event.changed):
            if row.digest in trace.malformed:
                text = f"the row {row.id} holds half a character"
                yield Finding("wellformed_text.row", text, (event.n,))


@needs("model")
def ends_with_user(history: History) -> Iterator[Finding]:
    """A main request ends with the user or a tool, never with the assistant's own words.

    `assistant`: the last message is the assistant's, though the last answer was not paused. Asked
    of requests that the dialect accepts: newer models take no prefill. Not meant: a request that
    sends a paused answer back, or does so again as it was, and a recording, whose model may have
    taken it. It comes of a reply that was stored before a retry, or of a turn begun without
    its message. An agent mends it by asking the model only when somebody else has spoken. Source:
    invariant 5; XiaomiMiMo/MiMo-Code#1703.
    """
    if history.trace.world == "recording":
        return
    paused: dict[str, bool] = {}
    sent_back: dict[str, Node] = {}
    for exchange in history.trace.exchanges:
        session = exchange.called.session
        if _has_last_word(exchange) and sent_back.get(session) is not exchange.node:
            if paused.get(session):
                sent_back[session] = exchange.node
            else:
                text = f"{exchange.called.key} ends with the assistant's own message"
                yield Finding("ends_with_user.assistant", text, (exchange.n,))
        if exchange.purpose == "main" and exchange.succeeded and not exchange.too_large:
            paused[session] = exchange.stop in ("pause_turn", "compaction")


def _has_last_word(exchange: Exchange) -> bool:
    main = exchange.purpose == "main" and not exchange.called.refused
    return main and _last_side(exchange.node) == "assistant"


def _last_side(node: Node) -> str:
    """The side of the last message that is not the system's."""
    while node.side == "system" and node.parent is not None and node.depth:
        node = node.parent
    return node.side
