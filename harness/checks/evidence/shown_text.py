"""The text of a turn that is for the user, and the text that the user reads of it.

Some agents send an answer in pieces, and the last piece as the final. Others stream the pieces and
then send the whole answer again, which replaces them on the screen. A model may also say words that
are not for the user: its profile names them (`silent`).

Many agents end a turn with "May I run pay with {...}?", keep the call, and take the next message
for the answer. The model never reads that message, so only the user can have meant another input.
An agent that hands the message to the model lets the model decide, and that is not judged.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, pairwise

import msgspec

from harness.checks.evidence.output_tools import only_text
from harness.checks.evidence.stored_messages import newest_text, squeeze
from harness.checks.evidence.tool_inputs import is_as_given
from harness.checks.evidence.turn_outcomes import ending_calls, is_taken
from harness.core.history.exchanges import ENDINGS, Ask, Exchange, Execution, Sending
from harness.core.history.trace import Delivery, Trace, Turn
from harness.core.values.carried_text import LEAST_CHARACTERS, Spelt, is_asked, lost_parts
from harness.core.values.messages import Json, Opaque, Text, Thinking, canonical
from harness.core.values.patterns import is_in, pattern_of
from harness.core.values.profile import SILENT
from harness.core.values.visible_text import SHOWN, abridged


def shown(sendings: Iterable[Sending]) -> Iterator[tuple[str, tuple[Sending, ...]]]:
    """Yield each text that a user reads to its end, with its messages.

    A text ends with a final or an error. Pieces without one are a text too.
    """
    parts: list[Sending] = []
    for sending in sendings:
        if not is_taken(sending) or sending.request.kind not in _READ:
            continue
        parts.append(sending)
        if sending.request.kind in ENDINGS:
            yield _joined(parts), tuple(parts)
            parts = []
    if parts:
        yield _joined(parts), tuple(parts)


def said_times(words: str, text: str, *, is_pattern: bool) -> int:
    """How often a text holds words, in any case and with any spaces; 1 if it fits a pattern."""
    if is_pattern:
        return is_in(pattern_of(words), text)
    plain, sought = (" ".join(each.casefold().split()) for each in (text, words))
    return plain.count(sought)


_READ = ENDINGS | {"partial"}


def _joined(parts: list[Sending]) -> str:
    """The text of the messages; the last one alone, if it holds what the others say."""
    *pieces, last = (part.request.text for part in parts)
    said = "".join(pieces)
    is_in_last = not lost_parts(said, last) if is_asked(said) else said.strip() in last
    return last if is_in_last else said + last


def spoken(trace: Trace, exchange: Exchange) -> tuple[str, ...]:
    """The text blocks of an answer without the words that are not for the user.

    The provider itself runs some tools, such as a search. Words before one are left out if others
    follow it, because they announce the call.
    """
    blocks = exchange.reply.blocks if exchange.reply else ()
    ran = [at for at, block in enumerate(blocks) if isinstance(block, Opaque) and _RAN(block.kind)]
    after = blocks[ran[-1] + 1 :] if ran else ()
    blocks = after if any(isinstance(block, Text) for block in after) else blocks
    texts = [block.text for block in blocks if isinstance(block, Text)]
    for words in trace.profile.silent:
        texts = [_without(words, text) for text in texts]
    return tuple(texts)


def unmarked_thought(exchange: Exchange, said: str, sent: str) -> str:
    """What the model thought, where a reply begins with it and goes on with the answer. An agent
    that means to show it adds a heading, a quotation or a fold."""
    blocks = exchange.reply.blocks if exchange.reply else ()
    thought = "".join(b.text for b in blocks if isinstance(b, Thinking))
    if not is_asked(thought) or squeeze(thought) in squeeze(said):
        return ""
    return thought if squeeze(sent).startswith(squeeze(thought + said)) else ""


def values_in(said: str) -> Iterator[str]:
    """The texts of an answer with a structure, such as `{"reason": …, "answer": …}`: the agent
    chooses which of them it sends."""
    if said.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            value = json.loads(said)
            yield from (part for part in value.values() if isinstance(part, str))


_RAN = re.compile("tool|_call$").search
"""The kinds of blocks for tools of the provider: `server_tool_use`, `web_search_call`."""


def _without(words: str, text: str) -> str:
    """The text without each occurrence of the words. It is searched forwards only: a pattern would
    take the square of a text in which many occurrences begin and none ends."""
    first, gap, last = words.partition("…")
    if not first or first not in text:
        return text
    if words in SILENT and not gap:  # inside a line the model speaks about the word
        return re.sub(rf"(?m)^[ \t]*{words}|{words}[ \t]*$", "", text)
    kept, at = list[str](), 0
    while (begun := text.find(first, at)) >= 0:
        ended = text.find(last, begun + len(first)) if gap else begun + len(first)
        if ended < 0:
            break
        kept.append(text[at:begun])
        at = ended + len(last)
    return "".join(kept) + text[at:]


def is_silent(trace: Trace, turn: Turn) -> bool:
    """Whether the last answer of a turn has words, and none of them is for the user."""
    last = turn.main[-1] if turn.main else None
    if last is None or last.reply is None or last.reply.tool_uses or not last.reply.text.strip():
        return False
    return not "".join(spoken(trace, last)).strip()


_WRITING = re.compile(
    r"(?<=\])\([^()\s]*\)|\[\d{1,3}\]|【[^【】]*】"
    r"|^ *(?:```|~~~)[^`\n]*$|^ *\d{1,3}[.)] |^ *- \[[ xX]\]",
    re.MULTILINE,
)
"""What another form of an answer leaves out: the address of a link, the mark of a citation, the
language of a block of code, the numbers of a list and its boxes."""


def as_read(text: str) -> str:
    """A text without what another form of it leaves out."""
    return _WRITING.sub(" ", text)


_ADDRESS = re.compile(r"\]\(([^()\s]+)\)")


def difference(read: str, kept: str) -> str:
    """What the user reads, and the reply that is stored in its place, in words."""
    lost = next((address for address in _ADDRESS.findall(kept) if address not in read), "")
    if lost and Spelt(as_read(kept)).plain == Spelt(as_read(read)).plain:
        lost = abridged(lost, SHOWN)
        return f"the address of a link, {lost}, is lost in the reply, and is stored"
    both = (canonical(abridged(said, SHOWN)) for said in (read, kept))
    return "the user reads {}, and the stored reply is {}".format(*both)


BEGINNING = 8
"""The characters by which a part of an answer is recognised in a reply."""


def parts_read(said: str, read: Spelt) -> tuple[int, int]:
    """How many characters the user reads of the beginning and of the end; 0 for a few by chance."""
    plain = read.plain
    head = _most(said, lambda size: Spelt(said[:size]).plain in plain)
    tail = _most(said, lambda size: Spelt(said[len(said) - size :]).plain in plain)
    if plain and plain in Spelt(said).plain:  # one piece: the smaller size is by chance
        head, tail = (head, 0) if head >= tail else (0, tail)
    else:
        head, tail = (size if size >= BEGINNING else 0 for size in (head, tail))
    return len(said[:head].rstrip()), len(said[len(said) - tail :].lstrip())


def instead(said: str, read: str, head: int, tail: int) -> str:
    """What the user reads in place of the lost part of an answer, as a mask, in words."""
    begins, ends = said[:head][-BEGINNING:], said[len(said) - tail :][:BEGINNING]
    begun = read.rfind(begins) + len(begins) if head and begins in read else 0
    other = read[begun : read.find(ends, begun) if tail and ends in read[begun:] else None].strip()
    return f", and {abridged(other, SHOWN)!r} instead" if other else ""


def in_place(said: str, read: str) -> str:
    """What the user reads in place of an answer, in words."""
    both = (canonical(abridged(text.strip(), SHOWN)) for text in (read, said))
    return "{} in place of the answer, {}".format(*both)


def begins_in(said: str, text: str) -> bool:
    """Whether a text, longer than a few characters, has the beginning of an answer."""
    return len(said) >= LEAST_CHARACTERS and said[:BEGINNING] in text


_OBJECT = re.compile(
    r"""\b[A-Z]\w{2,40}\((?:\w{1,30}=[^()\n]{0,200}, )?(?:text|content)=\[?['"]"""
    r"""|[\[{]\s*(?P<mark>['"\\]{1,2})type(?P=mark):\s*(?P=mark)(?:output_)?text(?P=mark)"""
)


def object_in(said: str, read: str) -> str:
    """How an object of the program begins that a reply holds, and its answer does not: a block of
    an SDK as Python shows it, or as JSON. "" for none."""
    found = _OBJECT.search(read)
    return found[0] if found and _OBJECT.search(said) is None else ""


def _most(said: str, holds: Callable[[int], bool]) -> int:
    """The greatest size that holds, if all smaller ones hold too."""
    low, high = 0, len(said)
    while low < high:
        size = (low + high + 1) // 2
        low, high = (size, high) if holds(size) else (low, size - 1)
    return low


_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#0*39|#x0*27);", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
MARKED = re.compile(r"(?s)(?=.*?(?:\*\*\S|`\S|\]\(\S))(?=.*?[<>&\"'])")
"""An answer with marks of Markdown, and signs that HTML writes as entities. Each run is asked for
one, so that a pattern stands here and no function: a judgement passes few files."""


def escaped_sign(said: str, sent: str) -> str:
    """The first sign of an answer that a reply writes as HTML does; "" for none.

    A channel that reads HTML is meant where a tag of the agent's own stands in the reply, or where
    the answer has no Markdown: marks as the model wrote them show that it is for no page.
    """
    entity = _ENTITY.search(sent)
    if entity is None or _ENTITY.search(said) or not MARKED.match(said) or _TAG.search(sent):
        return ""
    is_whole = squeeze(said) in squeeze(html.unescape(sent))
    return entity[0] if is_whole and squeeze(said) not in squeeze(sent) else ""


FENCED = re.compile(r"(?ms)^ *(?:```|~~~)[^`\n]*\n([^\n]*\n.*?)\n *(?:```|~~~)")
"""A block of code of two lines or more. A pattern, as the one above."""

_LINES = 50
"""How many lines of a block are looked for one by one."""


def unlined_code(said: str, read: str) -> str:
    """The first line of code that a reply joins with the next one, or that has lost its
    indentation; "" for none. A page may write the ends of lines as tags."""
    if _TAG.search(read) and not _TAG.search(said):
        return ""
    bare_lines = {line.rstrip() for line in read.splitlines()}
    for block in FENCED.finditer(said):
        lines = [line.rstrip() for line in block[1].splitlines() if line.strip()][:_LINES]
        least = min((_indent(line) for line in lines), default=0)
        short = [" ".join(line.split()) for line in lines]
        for line, bare in zip(lines, short, strict=True):
            is_out = _indent(line) > least and line.strip() in bare_lines
            if is_out and line.strip() not in said.splitlines():
                return bare
        for before, after in pairwise(short):
            if f"{before} {after}" in read and f"{before} {after}" not in said:
                return before
    return ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_only_ascii(said: str, read: str) -> bool:
    """Whether letters beyond ASCII are gone and all else is there: a decoder left them out."""
    bare, seen = ("".join(filter(str.isascii, text)) for text in (said, read))
    return not said.isascii() and is_asked(bare) and squeeze(bare) in squeeze(seen)


_ITEM = re.compile(r"^ *(\d{1,3})[.)] +(\S.*)$", re.MULTILINE)


def renumbered(said: str, read: str) -> str:
    """How the first item of a list is numbered otherwise; "" if none is. CommonMark numbers a list
    on from its first item, and what writes an answer as a page may leave numbers out."""
    items: dict[str, list[str]] = {}  # two lists may have the same item
    for number, words in _ITEM.findall(read):
        items.setdefault(words.strip(), []).append(number)
    before = ""
    for line in filter(str.strip, said.splitlines()):
        item, is_first = _ITEM.match(line), not (_ITEM.match(before) or before.startswith(" "))
        before = line
        others = items.get(item[2].strip(), ()) if item and is_first else ()
        if item and others and item[1] not in others:
            return f"{others[0]}. for {item[1]}. of a list"
    return ""


def is_shuffled(said: str, messages: list[str]) -> bool:
    """Whether messages are an answer in parts, and no more, in another order than it has."""
    whole, parts = squeeze(said), [part for part in map(squeeze, messages) if part]
    is_all = len(parts) > 1 and sum(map(len, parts)) == len(whole)
    return is_all and all(part in whole for part in parts) and "".join(parts) != whole


class Replaced(msgspec.Struct, frozen=True, eq=False):
    """The reply that shows a call, the message that came after it, and the run of another call."""

    sending: Sending
    delivery: Delivery
    run: Execution


def shown_calls(trace: Trace) -> Iterator[tuple[Turn, Ask, Sending]]:
    """Yield each call that did not run in its turn, with the reply that shows it and its input."""
    for turn in trace.turns.values():
        last = turn.main[-1] if turn.main else None
        for ask in turn.asks if turn.endings else ():
            sending = turn.endings[-1]
            ran_n = ask.execution.n if ask.execution else ask.sent_n
            is_open = ask.exchange is last and (not ran_n or ran_n > sending.n)
            if is_open and _shows(sending.request.text, ask):
                yield turn, ask, sending


def replaced_calls(trace: Trace) -> Iterator[Replaced]:
    """Yield each run of the next turn whose tool was shown with another input, if the model did not
    read the user's answer before it."""
    for turn, ask, sending in shown_calls(trace):
        later = trace.turns.get((turn.session, turn.number + 1))
        if later is None or later.delivery is None or not later.text.strip():
            continue
        for run in later.executions:
            is_other = run.ask is not ask and run.request.name == ask.use.name
            if is_other and not _is_read(later, run.n):
                schema = trace.schema(ask.exchange, ask.use.name)
                if not is_as_given(ask.use.input, run.request.input, schema):
                    yield Replaced(sending, later.delivery, run)


def _shows(text: str, ask: Ask) -> bool:
    """Whether a reply names the tool and says each value of the input. Any text says an empty one,
    so an input of empty values alone is not shown."""
    said = (v if isinstance(v, str) else canonical(v) for v in _values(ask.use.input))
    values = [value for value in said if value]
    return bool(values) and ask.use.name in text and all(value in text for value in values)


def _values(given: Json) -> Iterator[Json]:
    """The values of an input that are neither an object nor a list."""
    if isinstance(given, dict):
        yield from chain.from_iterable(map(_values, given.values()))
    elif isinstance(given, list | tuple):
        yield from chain.from_iterable(map(_values, given))
    else:
        yield given


def _is_read(turn: Turn, until_n: int) -> bool:
    """Whether a request before an event holds the message of the turn."""
    said = squeeze(turn.text)
    return any(said in squeeze(newest_text(e)) for e in turn.readable if e.n < until_n)


def goes_on(later: Exchange, earlier: Exchange) -> bool:
    """Whether a request holds an earlier answer as said by the model, after what it answers."""
    said = Spelt(earlier.reply.text).plain if earlier.reply else ""
    return bool(said) and any(
        node.side == "assistant" and said == Spelt(node.message.text).plain
        for node in later.node.tail(earlier.node)
    )


def in_ending_call(trace: Trace, turn: Turn, last: Exchange) -> str:
    """The answer in words that a call holds which ends the turn and runs nothing; "" for none."""
    ends = ending_calls(trace, turn, last)
    ran = len(ends) == 1 and any(run.n > last.n for run in turn.executions)
    return only_text(ends[0].input) if len(ends) == 1 and not ran else ""


def stands_in(turn: Turn, reply: Sending) -> int:
    """The event of the call whose words, or of the run whose text, are the whole of a reply."""
    said = Spelt(reply.request.text).plain
    calls = [(e.n, e.reply.text) for e in turn.main if e.reply and e.reply.tool_uses]
    texts = calls + [(run.n, run.text) for run in turn.executions if not run.failed]
    return next((n for n, text in texts if n < reply.n and said and Spelt(text).plain == said), 0)
