"""Reply content: what the user reads in a turn is what the model answered in it.

The answer is the text of the turn's last request. Agents add words, write Markdown as HTML or as
plain text, and split a long answer. So words are compared without their writing, and all messages
of the turn count. The profile names the words of the model that are not for the user (`silent`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice, takewhile
from typing import NamedTuple

from harness.checks.evidence.children_told import handed_over
from harness.checks.evidence.cut_results import is_announced
from harness.checks.evidence.declarations import needs
from harness.checks.evidence.shown_text import (
    as_read,
    begins_in,
    escaped_sign,
    goes_on,
    in_ending_call,
    in_place,
    instead,
    is_only_ascii,
    is_shuffled,
    object_in,
    parts_read,
    renumbered,
    spoken,
    stands_in,
    unlined_code,
    unmarked_thought,
    values_in,
)
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import (
    STATUSES,
    TRUNCATED_STOPS,
    asks_the_user,
    claimed,
    is_taken,
    wrong,
)
from harness.core.history.exchanges import Exchange, Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.carried_text import Spelt, is_asked, lost_parts, own_words
from harness.core.values.verdict import Finding

DOUBLED = 12
"""An answer with fewer characters may stand twice among other words by chance."""

SHOWN = 40
"""How much of what is lost a finding shows."""

EARLIER = 50
"""How many turns before a reply are looked through for its words."""

NOTE_WORDS = 3
"""The words of a note that an answer is cut; with a number, two. A bare "(cut)" says too little."""

_CUT_STATUSES = TRUNCATED_STOPS | {"truncated", "incomplete", "partial", "cut"}
"""The statuses by which an agent says that its reply is a part of the answer."""
_READ = frozenset({"partial", "final", "error", "notice"})


class _Broken(NamedTuple):
    """A broken rule: its name, what the user reads, and the event of the other answer (0: none)."""

    rule: str
    reads: str
    n: int = 0


class _Reply:
    """A final of a turn, with the answers of the model that came before it."""

    def __init__(self, trace: Trace, turn: Turn, final: Sending) -> None:
        self.trace, self.turn, self.final = trace, turn, final
        self.main = [e for e in turn.main if e.answered and e.answered.n < final.n]

    @cached_property
    def said(self) -> str:
        """The answer; "" where none ended the turn in order."""
        last = self.main[-1] if self.main else None
        is_whole = last is not None and last.reply and not (last.reply.tool_uses or wrong(last))
        return self.text(last) if last is not None and is_whole else self.in_call

    @cached_property
    def in_call(self) -> str:
        """The answer in a call that ends the turn by itself."""
        return in_ending_call(self.trace, self.turn, self.main[-1]) if self.main else ""

    @cached_property
    def wordings(self) -> set[str]:
        """The answer; with its blocks joined, as SDKs do; after truncated ones, cut in a word."""
        blocks = [self.in_call] if self.in_call else spoken(self.trace, self.main[-1])
        cut = takewhile(lambda e: e.stop in TRUNCATED_STOPS, reversed(self.main[:-1]))
        whole = "".join([*reversed([self.text(e) for e in cut]), self.said])
        return {self.said, "".join(blocks), whole}

    def text(self, exchange: Exchange) -> str:
        """The text of an answer that is for the user."""
        return "\n".join(spoken(self.trace, exchange))

    @cached_property
    def read(self) -> Spelt:
        """All that the user reads in the turn."""
        return Spelt("\n".join(self.sent))

    @cached_property
    def sent(self) -> list[str]:
        """The texts that the user reads, in their order."""
        requests = (s.request for s in self.turn.sendings if is_taken(s))
        return [r.text for r in requests if r.kind in _READ]

    @cached_property
    def reads(self) -> list[Spelt]:
        """All that the user reads; also in one, as messages may be cut inside a word."""
        joined = "".join(self.sent)
        return [self.read, Spelt(joined)] if len(self.sent) > 1 else [self.read]

    def has(self, said: str) -> bool:
        """Whether the user reads a whole text, or a value of a text that is JSON."""
        if any(self._holds(said, read) for read in self.reads):
            return True
        return any(is_asked(v) and not lost_parts(v, self.read) for v in values_in(said))

    def _holds(self, said: str, read: Spelt) -> bool:
        if not lost_parts(said, read):
            return True
        bare, seen = as_read(said), as_read(read.text)  # a channel takes Markdown off, or adds it
        if bare != said and not lost_parts(bare, read):
            return True
        return seen != read.text and not lost_parts(bare, seen)

    def shows(self, exchange: Exchange) -> bool:
        """Whether the user reads a whole answer, long enough not to stand there by chance."""
        return is_asked(said := self.text(exchange)) and self.has(said)


@needs("model", "inbox", "outbox", told_by="run", place=415)
def reply_carried(history: History) -> Iterator[Finding]:
    """The user reads the model's whole answer, once, and nothing else in its place.

    Asked of finals that report a success. `cut`: only a part of the answer, its words run together,
    or a list numbered otherwise. `blocks`: only some of its text blocks. `doubled`: it comes twice.
    `sewn`: beginnings of broken streams before it. `before_call`: in its place the words that the
    model said beside a call, also where that call holds the answer; `earlier`: an earlier answer of
    the turn; `other`: of another turn, also for a blank one; `session`: of another session.
    `stand_in`: the words beside a call or of a tool, for a blank one. `stale`: words of an earlier
    turn beside it. `thought`: what the model thought, as a part of the answer. `object`: it stands
    in an object of the program, as in `TextBlock(text='…')`. `escaped`: signs written for HTML,
    beside Markdown that no page shows. `code`: lines of code joined, or without indentation.
    `continuation`: only the end of an answer that was truncated and continued. `replaced`: anything
    else in its place. `blocked`: it was not read, under a status of the agent's own, and later
    requests hold it as said.

    Not a finding: added words; other white space and marks; Markdown as HTML or plain text; a value
    of an answer that is JSON; several messages that give the whole; words of a child that took
    over; a final of other statuses (`blocked`, `waiting`), or an error; an answer that was rejected
    and asked for again; a cut with a note of three words, or of two with a number; a value of
    several in a call that ends the turn; a command that the program itself answers; what the
    profile names as `silent`. Fewer than four characters are not asked. To fix it, send the rest as
    a second message. Source: gaia#1051, hermes-agent#86572.
    """
    for turn in history.trace.turns.values():
        if turn.delivery is None or turn.limits or turn.cancelled_n:
            continue
        for final in turn.endings:
            if final.request.kind != "final" or _is_verbatim(turn, final):
                continue
            reply = _Reply(history.trace, turn, final)
            if not is_asked(reply.said):
                found = _in_its_place(reply) if _is_blank(reply) else None
            else:
                found = _broken(reply) if claimed(final) == "completed" else _broken_words(reply)
            if found is not None:
                events = sorted({found.n or final.n, reply.main[-1].n, final.n})
                text = f"{turn.words}: the user reads {found.reads}"
                yield Finding(f"reply_carried.{found.rule}", text, tuple(events))


def _is_verbatim(turn: Turn, final: Sending) -> bool:
    """Whether the reply is the last answer to the letter, and no earlier one belongs to it. Nine of
    ten replies are, and need no comparison of words."""
    said = turn.main[-1].reply if turn.main else None
    is_same = said is not None and not said.tool_uses and said.text == final.request.text
    return is_same and not any(exchange.stop in TRUNCATED_STOPS for exchange in turn.main)


def _is_blank(reply: _Reply) -> bool:
    """Whether a success is reported after a blank answer; a few words may stand anywhere."""
    last = reply.main[-1] if reply.main else None
    is_whole = last is not None and last.reply and not last.reply.tool_uses and not wrong(last)
    is_long = len(reply.read.plain) >= DOUBLED and claimed(reply.final) == "completed"
    return bool(is_whole) and is_long and not reply.said.strip()


def _broken(reply: _Reply) -> _Broken | None:
    if begun := object_in(reply.said, reply.final.request.text):
        return _Broken("object", f"the answer within an object of the program: {begun}")
    if any(map(reply.has, reply.wordings)):
        added = _doubled(reply) or _continuation(reply) or _stale(reply) or _thought(reply)
        return added or _written(reply)
    if doubled := _doubled(reply):
        return doubled
    heirs = map(reply.shows, handed_over(reply.trace, reply.turn, reply.final.n))
    if any(heirs) or any(_is_beside(reply, e) for e in reply.main[:-1]) or _is_misplaced(reply):
        return None
    return _other(reply) or _blocks(reply) or _cut(reply)


def _is_beside(reply: _Reply, exchange: Exchange) -> bool:
    """Whether the user reads another answer that the last request does not go on from: that request
    was for a title, or its answer was the worse of two."""
    is_whole = exchange.reply and not exchange.reply.tool_uses and not wrong(exchange)
    return bool(is_whole) and not goes_on(reply.main[-1], exchange) and reply.shows(exchange)


def _is_misplaced(reply: _Reply) -> bool:
    """Whether the last request, which lacks the turn's message, may be of another session."""
    text = squeeze(reply.turn.text)
    nodes = reply.main[-1].node.back()
    return len({d.inbound.session for d in reply.trace.deliveries}) > 1 and not any(
        text in squeeze(node.message.text) for node in nodes if node.side == "user"
    )


def _broken_words(reply: _Reply) -> _Broken | None:
    """What is wrong where the turn did not succeed, so that the agent may use words of its own."""
    if reply.final.request.status in _CUT_STATUSES:
        return None
    if reply.has(reply.said):
        return _doubled(reply) or _stale(reply)
    return _blocked(reply) if _own_words(reply) else _cut(reply)


def _doubled(reply: _Reply) -> _Broken | None:
    """The final holds the answer more often than the model and the user said it, or what broken
    streams said before it."""
    if reply.final.request.text.strip() == reply.said.strip():
        return None
    said, ending = Spelt(reply.said).plain, Spelt(reply.final.request.text).plain
    before, _, _ = ending.rpartition(said)
    if not before:
        return None
    *earlier, last = reply.main
    failed = [e for e in earlier if not e.succeeded and not goes_on(last, e)]
    begun = [e for e in failed if begins_in(Spelt(reply.text(e)).plain, before)]
    heard = (reply.text(e) for e in reply.main if e.succeeded or e in begun)
    known = sum(Spelt(text).plain.count(said) for text in (*heard, reply.turn.text))
    times = ending.count(said)
    if times > max(known, 1) and (len(said) >= DOUBLED or ending == said * times):
        return _Broken("doubled", f"the answer {times} times")
    if not begun:
        return None
    streams = "a broken stream" if len(begun) == 1 else f"{len(begun)} broken streams"
    return _Broken("sewn", f"the beginning of {streams} before the answer", begun[0].n)


def _continuation(reply: _Reply) -> _Broken | None:
    """The model went on with an answer that was truncated, and the user misses its first part."""
    last = reply.main[-1]
    before = reply.main[-2] if len(reply.main) > 1 else None
    if before is None or before.stop not in TRUNCATED_STOPS or not goes_on(last, before):
        return None
    if before.reply and before.reply.tool_uses:  # the words announce a call, which came cut
        return None
    begun = reply.text(before)
    if reply.has(begun) or begins_in(Spelt(begun).plain, reply.read.plain):
        return None
    return _Broken("continuation", "only the end of an answer that was continued", before.n)


def _stale(reply: _Reply) -> _Broken | None:
    """Words of an earlier turn beside the answer, as from a buffer that was never emptied. A turn
    that has not succeeded may be made good."""
    own, read = Spelt(reply.said).plain, reply.read.plain.casefold()
    if len(read) < len(own) + DOUBLED:
        return None
    ran = (run.text for run in reply.turn.executions)
    texts = [*map(reply.text, reply.main), reply.in_call, reply.turn.text, *ran]
    known = Spelt("\n".join(texts)).plain.casefold()
    turns = (t for t in reversed(reply.trace.turns.values()) if t.session == reply.turn.session)
    for turn in islice((t for t in turns if t.number < reply.turn.number), EARLIER):
        for exchange in turn.main if any(claimed(e) == "completed" for e in turn.endings) else ():
            said = Spelt(reply.text(exchange)).plain.casefold()
            if len(said) >= DOUBLED and said in read and said not in known:
                words = f"words of {turn.words} beside the answer, not said again by the model"
                return _Broken("stale", words, exchange.n)
    return None


def _thought(reply: _Reply) -> _Broken | None:
    thought = unmarked_thought(reply.main[-1], reply.said, reply.final.request.text)
    words = f"what the model thought, {thought[:SHOWN]!r}, as its answer"
    return _Broken("thought", words) if thought else None


def _written(reply: _Reply) -> _Broken | None:
    """The signs, the numbers and the lines of an answer, as a channel may write them."""
    if sign := escaped_sign(reply.said, reply.final.request.text):
        return _Broken("escaped", f"{sign!r} for a sign of the answer, whose Markdown is as it was")
    if number := renumbered(reply.said, reply.read.text):
        return _Broken("cut", f"another number in the answer: {number}")
    line, *others = (unlined_code(reply.said, read.text) for read in reply.reads)
    words = f"code that has lost the ends or the indentation of its lines, at {line[:SHOWN]!r}"
    return _Broken("code", words) if line and all(others) else None


def _other(reply: _Reply) -> _Broken | None:
    """Another answer instead of the last: of this turn, of an earlier one, of a session."""
    for exchange in reversed(reply.main if reply.in_call else reply.main[:-1]):
        if reply.shows(exchange):
            if exchange.reply and exchange.reply.tool_uses:
                call = "the call that holds the answer" if reply.in_call else "a tool call"
                words = f"the words before {call}, and not the answer"
                return _Broken("before_call", words, exchange.n)
            return _Broken("earlier", "an earlier answer of the turn, and not the last", exchange.n)
    return _of_another_turn(reply)


def _in_its_place(reply: _Reply) -> _Broken | None:
    """What the user reads after a blank answer."""
    if other := _of_another_turn(reply):
        return other
    n, words = stands_in(reply.turn, reply.final), "words of a call or of a tool"
    return _Broken("stand_in", f"{words}, after a blank answer", n) if n else None


def _of_another_turn(reply: _Reply) -> _Broken | None:
    for turn in reversed(reply.trace.turns.values()):
        for exchange in turn.main:
            if turn is reply.turn or exchange.n > reply.final.n or not reply.shows(exchange):
                continue
            if lost_parts(reply.text(exchange), Spelt(reply.said)):  # the answer may quote it
                rule = "other" if turn.session == reply.turn.session else "session"
                words = f"an answer of {turn.words}, and not the one of {reply.turn.words}"
                return _Broken(rule, words, exchange.n)
    return None


def _blocks(reply: _Reply) -> _Broken | None:
    """Some of several text blocks, each as a whole."""
    blocks = [text for text in spoken(reply.trace, reply.main[-1]) if is_asked(text)]
    read = [text for text in blocks if reply.has(text)]
    if not read or len(read) == len(blocks):
        return None
    which = "the first" if read == blocks[:1] else len(read)
    return _Broken("blocks", f"only {which} of {len(blocks)} text blocks of the answer")


def _cut(reply: _Reply) -> _Broken | None:
    """A part of the answer, without a note of that; or nothing of it."""
    if squeeze(reply.said) in squeeze(reply.read.text):
        return _Broken("cut", "the answer with some of its words run together")
    if is_only_ascii(reply.said, reply.read.text):
        return _Broken("cut", "the answer without some of its letters beyond ASCII")
    if is_shuffled(reply.said, reply.sent):
        return _Broken("cut", "the parts of the answer in another order")
    head, tail = parts_read(reply.said, reply.read)
    if not head and not tail:
        return _Broken("replaced", in_place(reply.said, reply.read.text))
    lost = reply.said[head : len(reply.said) - tail].strip()
    if _is_noted(reply) or (not lost and len(reply.sent) > 1):  # a word between two messages
        return None
    which = f"first {head}" if head else f"last {tail}"
    text = f"only the {which} characters of an answer of {len(reply.said)}"
    if head and tail:
        lost = " ".join(reply.said[head : head + SHOWN].split())
        text = f"an answer that lacks or changes its middle, from {lost!r} on"
    return _Broken("cut", text + instead(reply.said, reply.read.text, head, tail))


def _is_noted(reply: _Reply) -> bool:
    """Whether the user reads a note that words are missing. One of the old length has none."""
    own, text = _own_words(reply), reply.read.text
    is_told = len(own) >= NOTE_WORDS or (len(own) > 1 and any(map(str.isdigit, "".join(own))))
    return is_told and (len(text) < len(reply.said) or is_announced(reply.said, text))


def _own_words(reply: _Reply) -> list[str]:
    """The words that the user reads and the model did not say in the turn."""
    return own_words(reply.read, Spelt("\n".join(map(reply.text, reply.main))))


def _blocked(reply: _Reply) -> _Broken | None:
    """An answer that the user did not read stands in the next request of the session as said."""
    status, last = reply.final.request.status, reply.main[-1]
    if status in STATUSES or asks_the_user(reply.final) or any(parts_read(reply.said, reply.read)):
        return None
    later = (e for e in reply.trace.exchanges if e.n > reply.final.n and e.purpose == "main")
    after = next((e for e in later if e.called.session == reply.turn.session), None)
    if after is None or not goes_on(after, last):
        return None
    words = f"{status!r} and not the answer, which {after.called.key} holds as said"
    return _Broken("blocked", words, after.n)
