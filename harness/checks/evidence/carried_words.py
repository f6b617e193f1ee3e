"""How much of a conversation another request still carries, without the prompt around it.

The windows of scenarios are small, and the conversations in them have a few words. The prompt of a
real agent, or its instruction for a summary, may be longer than the conversation. So a comparison
of sizes counts missing words of the conversation, and ignores the words around it.

A past that is gone as a whole, although a part of it had room, is looked for here too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

from harness.checks.evidence.excuses import Case
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import claimed, is_over_window
from harness.core.history.event_log import Named
from harness.core.history.exchanges import Exchange, Node
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.carried_text import lost_parts
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    canonical,
    side,
    with_marks,
)
from harness.core.values.verdict import Finding
from harness.core.values.visible_text import abridged

BYTES_PER_TOKEN = 4

BEGINNING = 20
"""The number of characters of an answer that its result keeps, even if an agent shortens it."""

PROMPT_TOKENS = 8000
"""The most words that an agent itself adds. In a real window, an omitted part is larger."""

_CARRIED = 0.8
"""A request that carries more than this share of a conversation has left nothing out."""


def leaves_out(before: Exchange, after: Exchange) -> bool:
    """Whether a request carries only a part of the conversation of another request."""
    return before.node.depth > 1 and carried(before.node, after.node) <= _CARRIED


def thinned(before: Exchange, exchange: Exchange) -> str:
    """What a request lacks that replaces one that failed in its turn, as a fallback does; "" for
    nothing."""
    is_of_turn = before.called.turn == exchange.called.turn
    if before.succeeded or before.too_large or not is_of_turn:
        return ""
    gone, old, new = before.node.depth - exchange.node.depth, before.request, exchange.request
    lacks = [f"{gone} of its {before.node.depth} messages"] if gone > 0 else []
    lacks += ["its system text"] if old.system and not new.system else []
    lacks += ["its tools"] if lacks and old.tools_offered and not new.tools_offered else []
    words = f"{exchange.called.key} replaces {before.called.key}, which failed, and lacks "
    return words + " and ".join(lacks) if lacks else ""


def first_difference(before: Node, settled: Node, now: Node) -> str:
    """How a list that should begin as `settled` begins; `before` is the whole list that had it."""
    for old, new in zip(settled.tail(), now.tail(), strict=False):
        if old is not new:
            at = old.depth - 1
            left = before.messages[at:]
            if new.message in left[1:]:
                return _lacking(left[: left.index(new.message, 1)], old, now)
            if old.message in now.messages[at + 1 :] and old.message not in left[1:]:
                words = canonical(abridged(plain_words(new.message), _SHOWN))
                return f"message {at} ({old.side}) stands later, behind {words}"
            return f"message {at} ({old.side}) differs{_other_words(old.message, new.message)}"
    return f"there were {settled.depth} messages before the newest, and {now.depth} are left"


def _lacking(lost: Sequence[Message], old: Node, now: Node) -> str:
    """Which messages a list lacks where they stood, the first of them at `old`."""
    at, count = old.depth - 1, len(lost)
    # A store that reads its rows by their time gives another order after the clock was set back.
    moved = all(one in now.messages[at:] for one in lost)
    if count == 1:
        which = f"message {at} ({old.side})" if at else "the oldest message"
        return f"{which} {'stands later' if moved else 'is gone'}"
    are = "stand later" if moved else "are gone"
    if at:
        return f"message {at} ({old.side}) and {count - 1} after it {are}"
    return f"the {count} oldest messages {are}"


_SHOWN = 40
"""How much of two different texts a finding shows, from a little before their difference on."""


def plain_words(message: Message) -> str:
    """What a message says in all of its blocks, on one line."""
    return " ".join(" ".join(map(_plain, message.blocks)).split())


def _other_words(old: Message, new: Message) -> str:
    """What a message said before, and what it says now; whole blocks may be elsewhere."""
    before, count = len(old.blocks), len(new.blocks)
    if 0 < count <= before and old != new and all(block in old.blocks for block in new.blocks):
        held = f"{count} of its {before} blocks" if count < before else "its blocks otherwise"
        return f": it has {held}"
    was, now = plain_words(old), plain_words(new)
    return f": it {changed_to(was, now)}" if was != now else _other_marks(old, new)


def _other_marks(old: Message, new: Message) -> str:
    """What stands otherwise beside equal words, such as the id of a call or the mark of an error;
    only the first such field is named."""
    for one, other in zip(old.blocks, new.blocks, strict=False):
        fields = one.__struct_fields__ if type(one) is type(other) else ()
        for name in fields:
            if (was := getattr(one, name)) != (now := getattr(other, name)):
                shown = (canonical(abridged(str(value), _SHOWN)) for value in (was, now))
                kind = _KINDS.get(type(one), "block")
                return ": {} of its {} was {}, and is {}".format(name, kind, *shown)
    return ""


_KINDS = {Text: "text", ToolUse: "call", ToolResult: "result", Thinking: "thought"}


def changed_to(was: str, now: str) -> str:
    """How a text became another one, in words: what is cut, or what stands before it, else both
    from their difference on."""
    was, now = (" ".join(text.split()) for text in (was, now))
    if was == now:
        return "differs in what is not text, or in white space"
    begins_at = max(now.find(was[:BEGINNING]), 0)
    added, now = now[:begins_at].rstrip(), now[begins_at:]
    if added and now == was:
        return f"stands behind other words now: {canonical(abridged(added, _SHOWN))}"
    start = max(shared(was, now) - _SHOWN // 4, 0)
    if unicodedata.normalize("NFC", was) == unicodedata.normalize("NFC", now):
        codes = (ascii(abridged(text[start:], _SHOWN)) for text in (was, now))
        return "is in another Unicode form: it was {}, and is {}".format(*codes)
    if now and was.startswith(now):
        return f"is cut, and its last {len(was) - len(now)} of {len(was)} characters are gone"
    if now and was.endswith(now):
        return f"is cut, and its first {len(was) - len(now)} of {len(was)} characters are gone"
    was, now = (canonical(abridged(text[start:], _SHOWN)) for text in (was, now))
    return f"was {was}, and is {now}"


def _plain(block: Block) -> str:
    return " ".join(_said(block))


def system_text(exchange: Exchange, values: Named[Json]) -> str:
    """The system text of a request; some wires put it into the messages."""
    pinned = (m.text for m in exchange.node.messages if side(m) == "system")
    return "\n".join([str(values.get(exchange.request.system, "")), *pinned])


def carried(conversation: Node, request: Node) -> float:
    """The share of a conversation's words that a request holds, in any message."""
    words, said = words_said(conversation), "".join(words_of(request))
    whole = sum(map(len, words))
    return sum(len(part) for part in words if part in said) / whole if whole else 1.0


def words_of(node: Node) -> list[str]:
    """The words of a list of messages, block by block, without white space."""
    return _words_in(node.messages)


def words_said(node: Node) -> list[str]:
    """The same without the system text, which some wires have in the list, and others beside it."""
    return _words_in(message for message in node.messages if side(message) != "system")


def _words_in(messages: Iterable[Message]) -> list[str]:
    blocks = (block for message in messages for block in message.blocks)
    return [squeezed for block in blocks for part in _said(block) if (squeezed := squeeze(part))]


def _said(block: Block) -> Iterator[str]:
    match block:
        case Text(text):
            yield text
        case ToolUse(_, name, given):
            yield name
            yield canonical(given)
        case ToolResult():
            yield block.text
        case Opaque(_, value):
            yield canonical(value)


_PIECE = 12
"""Characters of head and end that a cut text must keep."""


def is_cut_with_notice(said: str, sent: str) -> bool:
    """Whether a text is sent with head and end, and other words where its middle was.

    Both texts are without white space. A cut without words is silent.
    """
    start, end = sent.find(said[:_PIECE]), sent.rfind(said[-_PIECE:])
    piece = sent[start : end + _PIECE]
    if len(said) < 2 * _PIECE or start < 0 or end < start:
        return False
    kept = shared(said, piece), shared(said[::-1], piece[::-1])
    return min(kept) >= _PIECE and sum(kept) < len(piece)


def shared(one: str, other: str) -> int:
    """The length of the beginning that two texts have in common."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def is_held(text: str, sent: str) -> bool:
    """Whether a text without white space holds another one that was changed on the way: cut with a
    notice, without halves of characters, or as a field of JSON."""
    if is_cut_with_notice(squeeze(text), sent):
        return True
    return squeeze(with_marks(text)) in sent or squeeze(canonical(text)[1:-1]) in sent


def begins_or_ends(said: str, words: str) -> bool:
    """Whether the words of a request hold an answer; a long answer may be shortened."""
    return bool(said) and (said[:BEGINNING] in words or said[-BEGINNING:] in words)


def holds_more(trace: Trace, before: Exchange, after: Exchange) -> bool:
    """Whether a request holds more words than an earlier one, without the messages of users."""
    more = Counter(words_of(after.node)) - Counter(words_of(before.node))
    users = [squeeze(d.inbound.text) for d in trace.deliveries if d.n < after.n]
    for said in sorted(filter(None, users), key=len, reverse=True):
        more = Counter({word.replace(said, ""): 1 for word in more})
    return any(more)


def has_no_memory(trace: Trace, first: Exchange) -> bool:
    """Whether the agent is a function of a text that is told no session, and shows no answer."""
    is_stateless = trace.profile.replies == "text" and trace.profile.declares("session") is False
    return is_stateless and not any(m.role == "assistant" for m in first.node.messages)


def is_changed(said: str, newest: str) -> bool:
    """Whether a text holds a part of another, or half of its words in any case and accents."""
    lost = lost_parts(said, newest)
    if lost and "whole" not in lost:
        return True
    words, known = _bare_words(said), {*_bare_words(newest)}
    return sum(word in known for word in words) * 2 >= len(words) > 0


def _bare_words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text)
    return _WORD.findall("".join(c for c in plain if not unicodedata.combining(c)).casefold())


_WORD = re.compile(r"\w+")


SAYS_LEFT_OUT = re.compile(
    r"omit|leftout|trunc|drop|remov|skip|clear|toolong|lost|fail|available|couldnot|cannot|unable"
    r"|earlier|missing|without|forg|incomplete|nosummary|shorten|clipped|abridg",
    re.IGNORECASE,
)
"""Words of a note that what was said before is not there."""


def _is_noted(trace: Trace, before: Exchange, now: Exchange) -> bool:
    """Whether the agent's own words in a request, new since another one, say that messages are
    left out."""
    old = "".join(words_of(before.node))
    came = {squeeze(delivery.inbound.text) for delivery in trace.deliveries}
    users = (m for m in now.node.messages if side(m) == "user")
    own = {squeeze(b.text) for m in users for b in m.blocks if isinstance(b, Text)} - came
    return any(SAYS_LEFT_OUT.search(words) for words in own if words not in old)


def past_of_failed(history: History, before: Turn, turn: Turn) -> Iterator[Finding]:
    """Yield a finding if a turn has no past left after one whose compactions all failed."""
    failed = [c for c in history.trace.compactions if c.turn is before]
    last = before.main[-1]
    if not failed or not all(c.failed for c in failed) or last.too_large or last.status == 413:
        return
    refused = [e for e in before.main if e.too_large or e.status == 413]
    if any(all(m.role != "assistant" for m in e.node.messages) for e in refused):
        return  # a message that is too large alone leaves no room for a past
    if any(later.size < earlier.size for earlier, later in pairwise(refused)):
        return  # what was left of the past was refused too
    first, now = before.readable[0], turn.readable[0]
    said_before = (m for m in first.node.messages if m.role == "assistant")
    told = {squeeze(s.request.text) for s in history.trace.sendings if claimed(s) != "completed"}
    past = [squeeze(b.text) for m in said_before for b in m.blocks if isinstance(b, Text)]
    past = [text for text in past if text not in told]
    system = str(history.values.get(now.request.system, ""))
    words = "".join([squeeze(system), *words_of(now.node)])
    # The agent's client may read a summary in a stream that the provider's own SDK refuses.
    read = [squeeze(c.calls[-1].reply.text) for c in failed if c.calls and c.calls[-1].reply]
    kept = (begins_or_ends(text, words) for text in (*past, *read) if text)
    if any(past) and not any(kept) and not _is_noted(history.trace, first, now):
        text = f"{now.called.key}: a compaction failed in the turn before, and what was "
        text += "said before that is gone"
        yield Finding("history_faithful.forgotten_past", text, (first.n, failed[0].n, now.n))


def thrown_away(turn: Turn) -> Iterator[Case]:
    """Yield a case for each request that replaces a refused one and has nothing of its past."""
    if any(s.request.kind == "notice" or claimed(s) != "completed" for s in turn.sendings):
        return
    for before, later in pairwise(turn.readable):
        if before.succeeded or before.transient or not before.status:
            continue
        newest, words = before.node.newest(), "".join(words_of(later.node))
        old = (m for m in before.node.messages if side(m) != "system" and m not in newest)
        past = [said for m in old if (said := squeeze(m.text))]
        if len(past) < 2 or any(begins_or_ends(text, words) for text in past):
            continue
        is_large = before.too_large or is_over_window(before)
        if not is_large or _had_room(before, later, past[-1]):
            text = f"{later.called.key}: {before.called.key} was refused, and all that was said "
            text += "before this turn is gone"
            finding = Finding("history_faithful.forgotten_past", text, (before.n, later.n))
            yield Case("dropped" if is_large else "result", [finding], turn, later.n, before.n)


def _had_room(before: Exchange, later: Exchange, last: str) -> bool:
    """Whether half of what was too large had room for the last of the past, and no summary or note
    stands in its place."""
    old, new = words_of(before.node), words_of(later.node)
    is_half = 2 * (sum(map(len, new)) + len(last)) <= sum(map(len, old))
    return is_half and set(new) <= set(old)
