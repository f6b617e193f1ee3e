"""How the children of an agent ended, and what their parents read of it.

No provider knows of children: only the header of a first request tells a parent. So an end is read
from the last answer of the child, unless the agent said it (`brief.child`). Whether a call waits
for its child is told by its result alone: some agents run a child to its end and say that it runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Literal, NamedTuple, TypeAlias

from harness.checks.evidence.cut_results import is_announced
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.told_results import (
    is_condensed,
    is_other_script,
    reads_as_failure,
)
from harness.checks.evidence.turn_outcomes import wrong
from harness.core.history.exchanges import Ask, Exchange
from harness.core.history.history import History
from harness.core.history.trace import Child, Trace, Turn, children
from harness.core.values.carried_text import Spelt, is_asked, lost_parts, own_words
from harness.core.values.messages import Text, ToolResult, strings_in
from harness.core.values.visible_text import SHOWN, abridged

How: TypeAlias = Literal["done", "cut", "failed", "stuck", "killed", "open"]
"""How a child ended. `open`: nothing shows that it did."""

_CUT = frozenset({"truncated", "incomplete"})

LEAST = 12
"""A parent may say a shorter text itself, such as `Done`."""

_READ_MS = 10_000
"""How long a child may take to read an answer in real time."""

_ACKNOWLEDGED = re.compile(
    r"start|begun|began|launch|background|running|progress|spawn|queue|pending|notif|later|await"
    r"|async|schedul|dispatch|submit|\b(?:task|agent|child|run|job)[ _-]?id\b|\bid\b",
    re.IGNORECASE,
)
_SUCCEEDED = re.compile(
    r"\b(?:complete|completed|done|finished|succe\w+|ok|ready)\b", re.IGNORECASE
)
_SILENT = re.compile(
    r"\b(?:no|not|nothing|without|empty|blank|none|never|silent\w*)\b", re.IGNORECASE
)
_STATUS = re.compile(
    r"\b(?:status|exit(?:[ _-]?code)?)\W{1,5}(?=0\b|complete|done\b|finished\b|succe|ok\b)"
    r"|</status>",
    re.IGNORECASE,
)
"""The name of a field that stands before a word for success: alone it tells of a failure."""
# Possessive and begun once a run: a long word would otherwise be searched from each character.
_PLACE = re.compile(
    r"(?<![\w.~-])(?:[\w.~-]++[/\\]){2}[\w.-]|\b\w++\.(?:md|txt|jsonl?|log|output)\b"
)
_WORDS = re.compile(r"[^\W\d_]{2,}")


class ChildEnd(NamedTuple):
    """The end of a child: how, and with which text. `ask` is the call that made it.

    The last answer is the event `said_n`. It may be on its way for hours: `n` is the last event
    before it has come.
    """

    child: Child
    how: How
    text: str
    n: int
    at_ms: int
    ask: Ask | None
    said_n: int

    @property
    def said(self) -> str:
        """The text as findings show it."""
        return f'"{abridged(self.text, SHOWN)}"'

    @property
    def result(self) -> ToolResult | None:
        """The result of the call, if the call waited for the child; else None."""
        ask = self.ask
        if ask is None or ask.sent is None or not self.n < ask.sent_n:
            return None
        is_there = bool(self.text) and not lost_parts(self.text, ask.sent.text)
        return None if is_acknowledged(ask.sent.text) and not is_there else ask.sent

    @property
    def is_unclear(self) -> bool:
        """Whether the result came after the end in words that are not read: it may say that the
        child works."""
        sent = self.result
        if sent is None or sent.text.isascii():
            return False
        return not self.text or bool(lost_parts(self.text, sent.text))

    @property
    def result_n(self) -> int:
        """The event of the request that first holds the result of the call; 0 without one."""
        return self.ask.sent_n if self.ask else 0


def is_acknowledged(text: str) -> bool:
    """Whether the result of a call says that its child works, rather than what it said."""
    return _ACKNOWLEDGED.search(text) is not None


def claims_success(text: str, said: str) -> bool:
    """Whether a parent reads of a child that did not end well as if it had: nothing, a word for
    success, or the child's own words alone."""
    own = " ".join(own_words(Spelt(_STATUS.sub(" ", text)), Spelt(said)))
    if is_other_script(text) or (own and reads_as_failure(own)) or is_announced(said, text):
        return False
    return not own or _SUCCEEDED.search(own) is not None


def claims_work(text: str, said: str) -> bool:
    """Whether a result has a word for success that is not the child's, and none for silence."""
    own = " ".join(own_words(Spelt(text), Spelt(said)))
    is_plain = not text.lstrip().startswith(("{", "[", "<")) and not _SILENT.search(own)
    return is_plain and _SUCCEEDED.search(own) is not None and not reads_as_failure(own)


def child_ends(trace: Trace) -> list[ChildEnd]:
    """The children of a run with their ends, in the order of their start."""
    family = children(trace)
    asked: dict[str, list[Exchange]] = {name: [] for name in family}
    for exchange in trace.exchanges if family else ():
        if exchange.called.session in asked and exchange.purpose == "main":
            asked[exchange.called.session].append(exchange)
    linked = set[int]()
    return [
        _ended(trace, child, asked[child.session], linked)
        for child in family.values()
        if asked[child.session]
    ]


def _ended(trace: Trace, child: Child, asked: Sequence[Exchange], linked: set[int]) -> ChildEnd:
    last, ask = asked[-1], _ask_of(trace, child, asked[0], linked)
    text, answered = last.reply.text.strip() if last.reply else "", last.answered
    how = _how(trace, last)
    if how == "failed":
        text = ""  # the script's words, which never arrived
    said_n, end_ms = (answered.n, last.ended_ms) if answered else (last.n, last.called.at_ms)
    end_n = _last_before(trace, said_n, end_ms)
    killed_n = next((n for n in trace.kills if n > last.n), 0)
    is_at_work = how in ("open", "stuck") and wrong(last) != "refused"
    # A kill that comes before the end of its last answer is how the child ended.
    if killed_n and (is_at_work or answered is None or killed_n <= end_n):
        how, said_n, end_ms = "killed", killed_n, trace.events[killed_n - 1].at_ms
        end_n = killed_n
    return ChildEnd(child, how, text, end_n, end_ms, ask, said_n)


def _last_before(trace: Trace, said_n: int, end_ms: int) -> int:
    """The last event before an answer has come that was given at the event `said_n`."""
    rest = islice(trace.events, said_n, None)  # a copy for each child would be the whole history
    later = takewhile(lambda event: event.at_ms < end_ms, rest)
    return max((event.n for event in later), default=said_n)


def _how(trace: Trace, last: Exchange) -> How:
    """How a child ended whose last request this is.

    A call of the agent's own in the last answer may end it, as a tool for the final answer does.
    """
    if last.answered is None:
        return "failed" if trace.ended else "open"
    calls = last.reply.tool_uses if last.reply else ()
    if calls and wrong(last) in ("", "unfinished"):
        ends = {*trace.profile.turn_ending_tools}
        known: dict[str, object] = trace.settings.get("tools", {})
        is_stuck = all(use.name in known and use.name not in ends for use in calls)
        return "stuck" if is_stuck else "open"
    kind = wrong(last)
    if last.answered.outcome != "ok" and last.answered.status is None:
        return "failed"
    if kind in _CUT:
        return "cut"
    if kind in ("failed", "synthetic"):
        return "failed"
    return "done" if not kind else "open"


def _ask_of(trace: Trace, child: Child, first: Exchange, linked: set[int]) -> Ask | None:
    """The call that made a child: one whose input its first request holds, else the only open one.

    One call may make several children, so a call with the words counts again.
    """
    prompt = Spelt("\n".join(node.message.text for node in first.node.tail()))
    before = [
        ask
        for ask in trace.asks
        if ask.exchange.called.session == child.parent
        and ask.execution is None
        and ask.exchange.answered is not None
        and ask.exchange.answered.n < child.n
    ]
    worded = [ask for ask in reversed(before) if _is_prompt(ask, prompt)]
    found = next((ask for ask in worded if id(ask) not in linked), None) or next(iter(worded), None)
    if found is None:
        waiting = [ask for ask in before if not 0 < ask.sent_n < child.n and id(ask) not in linked]
        found = waiting[0] if len(waiting) == 1 else None
    if found is not None:
        linked.add(id(found))
    return found


def _is_prompt(ask: Ask, prompt: Spelt) -> bool:
    said = [text for text in strings_in(ask.use.input) if is_asked(text)]
    return any(not lost_parts(text, prompt) for text in said)


def handed_over(trace: Trace, turn: Turn, until_n: int) -> Iterator[Exchange]:
    """Yield the answers of children after the turn's own last request: a turn that asks no more may
    leave its reply to one of them."""
    own, last_n = (turn.session, turn.number), max((e.n for e in turn.main), default=0)
    sessions = {child.session for child in children(trace).values() if child.root == own}
    for exchange in trace.exchanges if sessions else ():
        if exchange.called.session in sessions and last_n < exchange.n < until_n:
            yield exchange


def open_turn(trace: Trace, end: ChildEnd) -> Turn | None:
    """The turn of the parent in which a child ends; None if it ends between two."""
    turns = (t for t in trace.turns.values() if t.session == end.child.parent and t.delivery)
    for turn in turns:
        over = min((e.n for e in turn.endings), default=turn.settled_n) or len(trace.events)
        if turn.opened_n < end.n < over:
            return turn
    return None


def ends_in_order(trace: Trace) -> bool:
    """Whether a child of the run ends with a text that can be looked for."""
    return any(end.how == "done" and is_asked(end.text) for end in child_ends(trace))


def does_not_finish(trace: Trace) -> bool:
    """Whether a child of the run ends in another way."""
    return any(end.how not in ("done", "open") for end in child_ends(trace))


def ends_in_a_turn(trace: Trace) -> bool:
    """Whether a child in the background ends in an open turn of an agent that says what it does
    then."""
    if trace.profile.children is None:
        return False
    return any(end.result is None and open_turn(trace, end) for end in child_ends(trace))


class ParentReads:
    """What the requests of one session hold that its own model did not say."""

    def __init__(self, history: History, session: str) -> None:
        trace = history.trace
        self._trace, self._values = trace, history.values
        self.requests = [e for e in trace.exchanges if e.called.session == session]
        self.main = [e for e in self.requests if e.purpose == "main" and not e.request.unread]
        self._said = [squeeze(d.inbound.text) for d in trace.deliveries if d.inbound.text.strip()]

    def known_n(self, end: ChildEnd) -> float:
        """The event behind which a turn of the parent that begins to ask can tell of an end.

        The history does not show when a child has read its last answer: on a loaded machine its
        parent may ask the model, and again, before that. On the virtual clock every thread has read
        what it was given.
        """
        if self._trace.world not in ("supervise", "recording") or end.how == "killed":
            return end.n
        asked = (e for e in self.main if e.called.at_ms >= end.at_ms + _READ_MS)
        return next((e.n - 1 for e in asked if e.n > end.n), math.inf)

    def carrier(self, end: ChildEnd) -> Exchange | None:
        """The first request after the end that holds the text of the child, or what a model made
        of that text on request. A request for a summary counts too."""
        made = [(end.n, end.text), *self._condensed(end)]
        for exchange in self.requests:
            if exchange.n > end.n and exchange.succeeded:
                sent = Spelt("\n".join(self._texts(exchange)))
                if any(not lost_parts(text, sent) for n, text in made if n < exchange.n):
                    return exchange
        return None

    def _condensed(self, end: ChildEnd) -> Iterator[tuple[int, str]]:
        for exchange in self._trace.exchanges:
            said = exchange.reply.text if exchange.reply and exchange.n > end.n else ""
            is_own = exchange.called.session == end.child.session
            is_other = is_asked(said) and not is_own and exchange not in self.main
            if is_other and is_condensed(exchange, [end.text], ToolResult("", said)):
                yield exchange.n, said

    def _texts(self, exchange: Exchange) -> list[str]:
        system = str(self._values.get(exchange.request.system, ""))
        texts = [system] if system else []
        for node in exchange.added:
            blocks = node.message.blocks if node.side != "assistant" else ()
            texts += [b.text for b in blocks if isinstance(b, Text | ToolResult)]
        return texts

    def part(self, end: ChildEnd) -> Literal["", "silent", "told"]:
        """Whether a text after the end holds a part of the child's text, or its place, and whether
        it says so; "" if none does."""
        found: Literal["", "silent", "told"] = ""
        begins = squeeze(end.text)[:LEAST]
        for text in (t for e in self.requests if e.n > end.n for t in self._texts(e)):
            is_begun, lost = begins in squeeze(text), lost_parts(end.text, text)
            if (is_begun and is_announced(end.text, text)) or _PLACE.search(text):
                return "told"
            if "whole" not in lost and lost:
                found = "silent"
        return found

    def _summaries(self) -> list[str]:
        said = (e.reply.text for e in self._trace.exchanges if e.reply and e.purpose == "compact")
        return [text.strip() for text in said if text.strip()]

    def copies(self, end: ChildEnd) -> int:
        """How often the newest request holds the text, without the results that the model asked
        for itself, and without summaries."""
        said = squeeze(end.text)
        if not self.main or any(said in text for text in self._said):
            return 0
        polls = {a.use.id for a in self._trace.asks if a is not end.ask}
        made = self._summaries()
        found = 0
        for node in self.main[-1].node.tail():
            for block in node.message.blocks if node.side != "assistant" else ():
                if isinstance(block, Text) or (
                    isinstance(block, ToolResult) and block.id not in polls
                ):
                    summed_up = any(text in block.text for text in made)
                    found += 0 if summed_up else squeeze(block.text).count(said)
        return found

    def notices(
        self, end: ChildEnd, ends: Sequence[ChildEnd], of_summaries: bool = True
    ) -> Iterator[str]:
        """Yield what the session reads after the end in the agent's own words: the paragraphs with
        words that no request before it has, and the results of calls that the agent answers.

        `of_summaries`: a request for a summary, and a summary itself, may tell of an end.
        """
        own_text = squeeze(end.text)  # of two children that say the same, either may be meant
        said = [squeeze(other.text) for other in ends if other is not end]
        others = [text for text in said if len(text) >= LEAST and text != own_text]
        starts = {o.ask.use.id for o in ends if o.ask is not None}
        own = {a.use.id for a in self._trace.asks if a.execution is None} - starts
        known = set[str]()
        made = [] if of_summaries else self._summaries()
        summed_up = [part for text in made for part in text.split("\n\n")]
        for exchange in self.requests if of_summaries else self.main:
            for text in self._own_texts(exchange, own):
                for paragraph in text.split("\n\n"):
                    words = set(_WORDS.findall(paragraph.casefold()))
                    is_new = bool(words - known) and exchange.n > end.n
                    is_others = any(other in squeeze(paragraph) for other in others)
                    is_others = is_others or any(part in paragraph for part in summed_up)
                    if is_new and not is_others:
                        yield paragraph
                    known |= words if exchange.n < end.n else set()

    def _own_texts(self, exchange: Exchange, own: set[str]) -> Iterator[str]:
        yield str(self._values.get(exchange.request.system, ""))
        for node in exchange.added:
            for block in node.message.blocks if node.side == "user" else ():
                if isinstance(block, ToolResult) and block.id in own:
                    yield block.text
                elif isinstance(block, Text):
                    yield "\n\n".join(p for p in block.text.split("\n\n") if not self._is_said(p))

    def _is_said(self, paragraph: str) -> bool:
        said = squeeze(paragraph)
        return any(said in text for text in self._said)

    def remembers(self, ask: Ask | None, n: int) -> bool:
        """Whether the requests after an event still hold the call that made a child."""
        later = (e for e in self.main if e.n > n)
        return ask is None or any(
            use.id == ask.use.id
            for e in later
            for node in e.node.tail()
            for use in node.message.tool_uses
        )
