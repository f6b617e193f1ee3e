"""Cuts of a result: what an agent leaves out of a text or changes, and whether it says so.

A notice may be in any language. So words are compared with what the tool said, and what stands
there beside it is read in the agent's favour.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from unicodedata import normalize

from harness.checks.evidence.carried_words import shared
from harness.core.history.exchanges import Ask, Exchange
from harness.core.history.trace import Trace
from harness.core.values.carried_text import (
    LEAST_CHARACTERS,
    WHOLE_CHARACTERS,
    Part,
    Spelt,
    is_asked,
    lost_parts,
    own_words,
)
from harness.core.values.messages import Json, ToolResult, canonical
from harness.core.values.visible_text import SHOWN, abridged

_TAG = re.compile(r"</?[a-zA-Z][\w-]{0,40}>")
_NOTICE = re.compile(
    r"…|\.\.\.|trunc|\bcut\b|omit|\bmore\b|remain|clip|limit|shorten|elid|skip|repeat|\bleft\b|\brest\b"
    r"|charact|\bchars?\b|bytes|\blines?\b|tokens|preview|\bfull\b|saved|stored|\bpages?\b|offset"
    r"|\bpart|\btoo\b|\b[KMG]i?B\b|\btimes\b"
    r"|gek.rzt|abgeschnitten|tronqu|recort|troncat",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\w[/\\]\w|\d{3}")


def is_announced(said: str, sent: str) -> bool:
    """Whether a text says that it holds only a part of what was said, in any language."""
    own = _TAG.sub("", sent)
    # Without regard to case: a copy of `line 7` in capitals says nothing of a cut.
    found, before = (set(_NOTICE.findall(text.casefold())) for text in (own, said))
    if found - before:
        return True
    words = " ".join(own_words(Spelt(own), Spelt(said)))
    return bool(_PLACE.search(words) and not _PLACE.search(said))


def stands_for(said: str, sent: str) -> bool:
    """Whether a note may stand for a text of which nothing is kept. The text is long, and the note
    says more than a size (`4221 characters`), or names a way to the text."""
    words = [word for word in Spelt(sent).words if any(map(str.isalpha, word))]
    return len(said) >= PREVIEWED and (len(words) > 1 or _WAY.search(sent) is not None)


_COUNT = re.compile(
    r"(\d[\d,]{0,15})(?: more (?:characters|chars)\b|(?: more)? (?:characters|chars)\W{0,3}"
    r"(?:(?:were|are|was|have been) )?"
    r"(?:left out|omitted|truncated|removed|elided|cut\b|skipped|not shown|dropped|clipped))",
    re.IGNORECASE,
)


def miscounted(said: str, sent: str) -> str:
    """How a notice counts fewer than half of the characters that are left out; "" if none does. One
    cut said nothing, and a second one counted what it got (openai/codex#35421)."""
    counts = [int(found[1].replace(",", "")) for found in _COUNT.finditer(sent)]
    gone = len(said) - len(sent)
    if not counts or _COUNT.search(said) or sum(counts) * 2 >= gone:
        return ""
    return f"says that {sum(counts)} characters are left out, and some {gone} are"


_AS_LONG = 0.9
"""From this share of its length on, a text that lacks a word and has another one was changed."""


def lack_of(said: str, sent: str, lost: Sequence[Part]) -> str:
    """What a result lacks, in words: a word that stands there changed, or the parts of the text."""
    gone, new = own_words(Spelt(said), Spelt(sent)), own_words(Spelt(sent), Spelt(said))
    if gone and new and len(sent) >= len(said) * _AS_LONG:
        return f"has {new[0]!r} where its tool said {gone[0]!r}"
    # NFKC makes other letters of full-width digits, ligatures and fractions: a path or a code that
    # the model sends back is then no longer the tool's.
    other = next((sign for sign in said if normalize("NFKC", sign) != sign), "")
    if other and not lost_parts(normalize("NFKC", said), sent):
        return f"has {normalize('NFKC', other)!r} where its tool said {other!r}"
    if cut := _cut_out(" ".join(said.split()), " ".join(sent.split())):
        return cut
    named = dict.fromkeys(str(part) for part in lost if part != "whole")
    return f"lacks its {' and its '.join(named or ['rest'])}"


def _cut_out(was: str, now: str) -> str:
    """What one piece is that was cut out of a text, in words; "" where more than that was done."""
    head = shared(was, now)
    tail = min(shared(was[::-1], now[::-1]), len(now) - head)
    if not now or head + tail < len(now):
        return ""
    place = "first" if not head else "last" if not tail else "inner"
    count, gone = len(was) - len(now), was[head : len(was) - tail]
    return f"lacks its {place} {count} of {len(was)} characters, {canonical(abridged(gone, SHOWN))}"


def is_inside_a_character(said: str, sent: str) -> bool:
    """Whether a text holds a broken character, and what was said has none."""
    return _BROKEN.search(sent) is not None and _BROKEN.search(said) is None


_BROKEN = re.compile(r"[\ufffd\ud800-\udfff]|\\ud[89a-f][0-9a-f]{2}", re.IGNORECASE)


PREVIEWED = 1_000
"""From this length on, a note with the place of the text may stand for the whole. A shorter text
has some 250 tokens, so that no window and no bill is a reason to cut it."""

_WAY = re.compile(
    r"\w[/\\]\w|saved|stored|offset|\bpages?\b|\bfull\b|\bcall|\bask|\buse\b|\bread|view|open|redact"
    r"|mask",
    re.IGNORECASE,
)
"""How a notice names a place of the rest, or a reason other than size."""


_CLEARED = 10_000
"""A text up to this length has room where another as long is sent."""


def is_needless(trace: Trace, ask: Ask, said: str, sent: str, is_kept: bool) -> bool:
    """Whether a short text is cut although no request was too large, and the model is told no way
    to the rest: a place, a tool of the request, an offset. A longer text, of which nothing is kept
    (`is_kept`), counts where the same request holds another result of its length: there was room.
    """
    most = PREVIEWED if is_kept else _CLEARED
    if (
        not WHOLE_CHARACTERS < len(said) < most
        or len(sent) >= len(said)
        or trace.settings.get("window_tokens")
    ):
        return False
    session, words = ask.exchange.called.session, " ".join(own_words(Spelt(sent), Spelt(said)))
    made = [e for e in trace.exchanges if e.called.session == session and e.n <= ask.sent_n]
    others = (r for m in made[-1].node.newest() for r in m.tool_results) if made else ()
    if len(said) >= PREVIEWED and not any(len(other.text) >= len(said) for other in others):
        return False
    return not any(e.too_large or e.status == 413 for e in made) and not _names_a_way(
        trace, ask, words
    )


def _names_a_way(trace: Trace, ask: Ask, words: str) -> bool:
    """Whether the agent's words tell the model a way to the rest."""
    offered = trace.schemas.get(ask.exchange.request.tools, {})
    return bool(_WAY.search(words)) or any(name in words for name in offered)


def read_otherwise(trace: Trace, ask: Ask, said: str) -> ToolResult | None:
    """What stands for a text in the first request that a model answers, where the one that held it
    first was refused for its size. None for a cut that says so, or after a kill between."""
    made, where = trace.exchanges, ask.exchange.called
    at = _refused_at(trace, ask)
    if at is None:
        return None
    turn = where.session, where.turn
    later = (e for e in made[at:] if (e.called.session, e.called.turn) == turn)
    read = next((e for e in later if e.purpose == "main" and e.reply and not e.too_large), None)
    if read is None or any(ask.sent_n < n < read.n for n in trace.kills):
        return None
    held = (result for message in read.node.messages for result in message.tool_results)
    found = next((result for result in held if result.id == _own_id(ask)), None)
    if found is None or not lost_parts(said, Spelt(found.text)) or is_announced(said, found.text):
        return None
    return found


def _own_id(ask: Ask) -> str:
    """The id under which the agent sends a result: of two calls with one id it renames one."""
    return ask.sent.id if ask.sent else ask.use.id


def _refused_at(trace: Trace, ask: Ask) -> int | None:
    """The place of the request that holds a result first, if it was refused for its size."""
    at = bisect_left(trace.exchanges, ask.sent_n, key=lambda exchange: exchange.n)
    return at if any(first.too_large for first in trace.exchanges[at : at + 1]) else None


def cleared_unread(trace: Trace, ask: Ask, said: str) -> tuple[Exchange, ToolResult] | None:
    """Return the request from which a text is cleared that no model has read, and what is there.

    The first request with it was refused for its size. The next one that is answered has a note in
    its place, although there was room. So the model asks again, or goes on without it.
    """
    if _refused_at(trace, ask) is None:
        return None
    session, turn = ask.exchange.called.session, ask.exchange.called.turn
    made = [e for e in trace.exchanges if e.called.session == session]
    asked = [e for e in made if e.n >= ask.sent_n and e.called.turn == turn]
    if len(said) <= WHOLE_CHARACTERS or not asked or not asked[0].too_large:
        return None
    read = next((e for e in asked if not e.too_large and e.reply is not None), None)
    if read is None or read.purpose != "main":  # the model of a summary may have read it
        return None
    held = [result for message in read.node.messages for result in message.tool_results]
    at = next((n for n, result in enumerate(held) if result.id == _own_id(ask)), None)
    if at is None or len(held[at].text) * 2 > len(said):  # half of it is a cut, and no clearing
        return None
    words = " ".join(own_words(Spelt(held[at].text), Spelt(said)))
    is_longer = any(len(older.text) >= len(said) for older in held[:at])
    if not (is_longer or _had_room(made, read, said)) or _names_a_way(trace, ask, words):
        return None
    texts = [message.text for message in read.node.messages] + [result.text for result in held]
    return (read, held[at]) if lost_parts(said, Spelt("\n".join(texts))) else None


def _had_room(made: Sequence[Exchange], read: Exchange, said: str) -> bool:
    """Whether a larger request was answered before than this one would be with a text."""
    before = [e for e in made if e.n < read.n and e.reply is not None and not e.too_large]
    wanted = read.called.bytes + len(said.encode(errors="replace"))
    return any(e.called.bytes >= wanted for e in before if e.purpose == "main")


def is_part_kept(texts: list[str], sent: str, lost: list[Part]) -> bool:
    """Whether a part of what the tool said is left: a block, a piece, its first or last words."""
    if "whole" not in lost:
        return True
    spelt, asked = Spelt(sent), [text for text in texts if is_asked(text)]
    if any(not lost_parts(text, spelt) for text in asked):
        return True
    plain = "".join(Spelt(text).plain for text in asked)
    if not plain:
        return False
    # A cut in the middle leaves less of a short text at each side, and says so.
    share = 4 if is_announced("\n".join(texts), sent) else 2
    least = max(LEAST_CHARACTERS, min(len(plain), WHOLE_CHARACTERS) // share)
    if plain[:least] in spelt.plain or plain[-least:] in spelt.plain:
        return True
    return bool(spelt.plain) and (plain.startswith(spelt.plain) or plain.endswith(spelt.plain))


_BEGINNINGS = {
    "image/png": "iVBORw0KGgo",
    "image/jpeg": "/9j/",
    "image/gif": "R0lGOD",
    "image/webp": "UklGR",
}
"""How a file of each type begins, in base64: an agent may correct a type that is wrong."""


def pictures_in(answer: Json) -> list[dict[str, Json]]:
    """The pictures among the blocks of a tool's answer."""
    content = answer.get("content") if isinstance(answer, dict) else None
    blocks = content if isinstance(content, list | tuple) else ()
    return [b for b in blocks if isinstance(b, dict) and b.get("type") == "image"]


def mislabelled(pictures: Sequence[Mapping[str, Json]], sent: Sequence[str]) -> str:
    """What is wrong with a result that holds the file of a picture under another media type."""
    for picture in pictures:
        source = picture.get("source")
        about = source if isinstance(source, dict) else {}
        kind, data = str(about.get("media_type")), str(about.get("data") or "")
        held = [text for text in sent if data and data in text]
        is_right = kind in _BEGINNINGS and data.startswith(_BEGINNINGS[kind])
        if is_right and held and not any(kind in text for text in held):
            return f"has its picture, {kind}, under another media type"
    return ""
