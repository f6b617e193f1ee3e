"""What a summary replaces, and what the model that wrote it was shown.

Three requests are compared: the last one before a compaction, those for the summary, and the one
that goes on with it. Only words that somebody said are looked for: a date or a reminder that the
agent puts around them is its own, and it may leave that out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from harness.checks.evidence.carried_words import begins_or_ends, is_cut_with_notice
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import claimed
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Compaction, Trace
from harness.core.values.carried_text import Spelt, is_asked, lost_parts
from harness.core.values.messages import Message, Text, ToolResult, side

Kind: TypeAlias = Literal["words", "rest", "summary"]

PROPER = 24
"""A shorter answer, without white space, may stand elsewhere by chance, so it is not taken for a
summary."""

_HEAD = 12
"""The characters of its beginning or end by which a text that was cut is found."""

_HEADING = 60
"""The most characters, without white space, of the words that call a text a summary."""

_SUMMARY = re.compile(r"summar|whatwassaid|sofar", re.IGNORECASE)


class Said(NamedTuple):
    """A text of the past: the user's words, an answer or a result, or an earlier summary.

    `whole`: what the tool said, where the request before has only a part of the result.
    """

    kind: Kind
    text: str
    whole: str = ""


class Change:
    """A compaction with the requests around it, and their words."""

    def __init__(
        self, history: History, compaction: Compaction, before: Exchange, after: Exchange
    ) -> None:
        self.history, self.compaction = history, compaction
        self.before, self.after, self.session = before, after, after.called.session

    @cached_property
    def now(self) -> Spelt:
        """The words of the request after it, with the system text."""
        return Spelt(text_of(self.history, self.after))

    @cached_property
    def is_used(self) -> bool:
        """Whether that request holds the beginning or the end of a summary."""
        said = [squeeze(call.reply.text) for call in self.compaction.calls if call.reply]
        now = squeeze(self.now.text)
        return any(begins_or_ends(text, now) for text in said)

    @cached_property
    def shown(self) -> Spelt:
        """The words of the session's requests for summaries so far: an agent may summarise in
        parts, or a little at every turn."""
        made = (c for c in self.history.trace.compactions if c.turn.session == self.session)
        calls = (call for c in made if c.n <= self.compaction.n for call in c.calls)
        return Spelt("\n".join(text_of(self.history, call) for call in calls))

    @cached_property
    def shown_now(self) -> Spelt:
        """The words of the requests for this summary alone."""
        calls = self.compaction.calls
        return Spelt("\n".join(text_of(self.history, call) for call in calls))

    @cached_property
    def said_by_side(self) -> list[tuple[str, Said]]:
        """All that was said in the session up to the compaction, in a request or not, each with
        the side that says it; "" for any."""
        return _said(self.history.trace, self)

    @property
    def said(self) -> list[Said]:
        """The same, without the sides."""
        return [each for _, each in self.said_by_side]

    @cached_property
    def past(self) -> list[Said]:
        """What the request before held of what was said before its newest message."""
        turn = self.history.trace.turns[self.session, self.after.called.turn]
        said = dict.fromkeys(_past(self.history.trace, self))
        return [each for each in said if is_asked(each.text) and each.text != turn.text]

    @cached_property
    def gone(self) -> list[Said]:
        """What of it the request after does not hold. A text that is shortened where it stands is
        not replaced; two summaries may begin alike."""
        now = squeeze(self.now.text)
        lost = [each for each in self.past if lost_parts(each.text, self.now)]
        kept = [e for e in lost if e.kind != "summary" and begins_or_ends(squeeze(e.text), now)]
        return [each for each in lost if each not in kept]

    @cached_property
    def added(self) -> list[tuple[str, str]]:
        """The agent's own words in the request after it that the one before has not, each with its
        side and without white space. A summary is among them."""
        trace, now = self.history.trace, self.after
        before = squeeze(text_of(self.history, self.before))
        said = [e.reply.text for e in trace.exchanges if e.purpose == "main" and e.reply]
        said += [delivery.inbound.text for delivery in trace.deliveries]
        known = sorted({squeeze(text) for text in said} - {""}, key=len, reverse=True)
        found = list[tuple[str, str]]()
        rules = ("system", str(self.history.values.get(now.request.system, "")))
        for whose, text in (rules, *_texts(now)):
            words = squeeze(text)
            for old in known if words not in before else (words,):
                words = words.replace(old, "")
            found += [(whose, words)] if words else []
        return found

    @property
    def own_words(self) -> str:
        """The agent's own words in the messages of the request after it, new or not: a second
        excerpt of the past may read like the first."""
        said = {squeeze(delivery.inbound.text) for delivery in self.history.trace.deliveries}
        told = (squeeze(text) for whose, text in _texts(self.after) if whose == "user")
        return "\n".join(text for text in told if text not in said)

    @cached_property
    def passed_off(self) -> str:
        """An answer of the past that stands alone as its summary, in the voice of another; "" for
        none. Docker Agent took the last answer where no summary came (docker-agent#3469)."""
        answers = [each.text for whose, each in self.said_by_side if whose == "assistant"]
        proper = [text for text in answers if len(squeeze(text)) >= PROPER]
        for whose, text in _texts(self.after) if len(self.gone) > 1 else ():
            words = squeeze(text)
            for answer in proper if whose != "assistant" else ():
                heading = words.replace(squeeze(answer), "")
                if heading != words and len(heading) < _HEADING and _SUMMARY.search(heading):
                    return answer
        return ""

    def is_carried(self, text: str) -> bool:
        """Whether the requests for this summary, or the request after it, hold a text."""
        return not lost_parts(text, self.shown_now) or not lost_parts(text, self.now)

    def is_shown(self, said: Said, is_noted: bool = True) -> bool:
        """Whether a model that wrote a summary read a text, whole or with a notice.

        `is_noted`: a notice elsewhere in the request may speak of this text.
        """
        shown = self.shown_now if said.kind == "summary" else self.shown
        texts = [said.text, said.whole] if said.whole else [said.text]
        # SDKs put nothing between the blocks of an answer, so two words may be one.
        if any(not lost_parts(t, shown) or squeeze(t) in squeeze(shown.text) for t in texts):
            return True
        if len(self.compaction.calls) > 1 and _is_in_parts(said.text, shown):
            return True
        if said.kind == "words" and self._has_room:
            return False
        if any(_is_told(text, shown.text) for text in texts):
            return True
        # A note about other messages does not say that an earlier summary is forgotten.
        return is_noted and said.kind != "summary" and self._is_noted

    @cached_property
    def _is_noted(self) -> bool:
        """Whether the requests for summaries say, in words or at a place that the one before had
        not, that something was left out. A notice of that one may itself be left out. The agent may
        also say it beside the summary."""
        shown, before = self.shown.text, text_of(self.history, self.before)
        written = self.compaction.calls[-1].reply
        said = written.text if written else ""
        beside = (text for _, text in _texts(self.after) if squeeze(said) in squeeze(text))
        if not self._has_room and any(_marks(text) - _marks(said) for text in beside):
            return True
        if _marks(shown) - _marks(before):
            return True
        words = squeeze(before)
        return any(_is_new(mark, shown, words) for mark in _MARK.finditer(shown))

    @property
    def _has_room(self) -> bool:
        """Whether the conversation fitted as it was, so that the user's words need no cut."""
        before, last = self.before, self.compaction.calls[-1]
        is_same = last.request.model == before.request.model
        return before.succeeded and not before.too_large and is_same


def changes(history: History) -> Iterator[Change]:
    """Yield each compaction with a request before it and one after it, where all are whole.

    What a provider keeps for the agent stands in no request. An agent may leave out a turn that
    failed, so a compaction between turns counts only after a turn that succeeded.
    """
    for compaction in history.trace.compactions:
        before, after = compaction.before, compaction.after
        if before is None or after is None or not compaction.calls:
            continue
        if any(e.request.unread or e.request.stateful for e in (before, after, *compaction.calls)):
            continue
        turn = history.trace.turns[before.called.session, before.called.turn]
        is_whole = any(claimed(ending) == "completed" for ending in turn.endings)
        if is_whole or before.called.turn == after.called.turn:
            yield Change(history, compaction, before, after)


def summaries(trace: Trace) -> int:
    """The most summaries that a session has, each with a request after it."""
    made = [c.turn.session for c in trace.compactions if c.calls and c.after and not c.failed]
    return max(map(made.count, made), default=0)


def text_of(history: History, exchange: Exchange) -> str:
    """The words of a request: its system text, and each block of its messages."""
    texts = [str(history.values.get(exchange.request.system, ""))]
    texts += [text for _, text in _texts(exchange)]
    texts += [result.text for m in exchange.node.messages for result in m.tool_results]
    return "\n".join(filter(None, texts))


def said_by_agent(history: History, exchange: Exchange) -> str:
    """The words of a request, without white space and without the model's answers."""
    texts = [text for whose, text in _texts(exchange) if whose != "assistant"]
    # Some wires have the system text in the list: there it stands once.
    if all(node.side != "system" for node in exchange.node.tail()):
        texts.insert(0, str(history.values.get(exchange.request.system, "")))
    return "\n".join(map(squeeze, texts))


def _texts(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """Yield the texts of a request's messages, each with the side that says it."""
    for node in exchange.node.tail():
        for block in node.message.blocks:
            if isinstance(block, Text):
                yield node.side, block.text


def _past(trace: Trace, change: Change) -> Iterator[Said]:
    """Yield what the request before a compaction holds of what was said; its answer too, if that
    was the reply to the user."""
    n, session = change.compaction.n, change.session
    said = [(whose, each, squeeze(each.text)) for whose, each in change.said_by_side]
    rows = [trace.messages.get(row.digest) for look in trace.stored for row in look.added]
    stored: dict[str, list[str]] = {}
    for result in (r for m in rows if m for r in m.tool_results):
        stored.setdefault(result.id, []).append(result.text)
    silent = {id for id, texts in stored.items() if not all(map(str.strip, texts))}
    silent |= {run.request.id for run in trace.executions if not run.text.strip()}
    # So is what it writes for a stored call that never had a result. The call may lack an id, or
    # have that of another one, so an agent gives it a new one.
    calls = Counter(use.id for m in rows if m for use in m.tool_uses)
    ran = {run.request.id: run.text for run in trace.executions}
    had = Counter(run.request.id for run in trace.executions)
    had.update({id: len(texts) for id, texts in stored.items()})
    bare = {id for id, made in calls.items() if made > had[id]}
    asked = {use.id for e in trace.exchanges if e.reply for use in e.reply.tool_uses} | had.keys()
    is_renamed = bool(bare) or max(calls.values(), default=0) > 1
    silent |= bare | _answered_by_agent(trace)
    for message in change.before.node.messages:
        held = squeeze(message.text)
        for whose, each, words in said:
            if words and words in held and whose in ("", side(message)):
                yield each
        # What an agent writes for a tool that said nothing is the agent's own.
        told = (r for r in message.tool_results if not is_renamed or r.id in asked)
        for result in (r for r in told if r.id not in silent):
            # A model may give a call an id of the seed, whose own call never had a result.
            known = [ran[result.id]] if result.id in ran.keys() & calls.keys() else []
            if _is_stored(result, [*stored.get(result.id, ()), *known]):
                yield Said("rest", result.text, ran.get(result.id, ""))
    last = change.before.reply.text if change.before.reply else ""
    turn = trace.turns[session, change.before.called.turn]
    if any(last == s.request.text for s in turn.endings if claimed(s) == "completed" and s.n < n):
        yield Said("rest", last)


def _answered_by_agent(trace: Trace) -> set[str]:
    """The calls of the seed for which an agent stores its own words: they never ran."""
    first = trace.deliveries[0].n if trace.deliveries else 0
    added = [(look.n, trace.messages.get(r.digest)) for look in trace.stored for r in look.added]
    seeded = {use.id for n, m in added if m and n < first for use in m.tool_uses}
    seeded -= {run.request.id for run in trace.executions}
    return seeded & {r.id for n, m in added if m and n > first for r in m.tool_results}


def _is_stored(result: ToolResult, texts: Sequence[str]) -> bool:
    """Whether a result holds what the store has under its id, if that has one. An agent writes its
    own words for a stored result that no call takes."""
    words = squeeze(result.text)
    return not texts or any(begins_or_ends(t, words) or words in t for t in map(squeeze, texts))


def _said(trace: Trace, change: Change) -> list[tuple[str, Said]]:
    """All texts of a session up to a compaction, each with the side that says it; "" for any."""
    n, session = change.compaction.n, change.session
    first = trace.deliveries[0].n if trace.deliveries else 0
    rows = [row for look in trace.stored if look.n < first for row in look.added]
    seeds = [
        trace.messages.get(r.digest, Message("user")) for r in rows if r.session in ("", session)
    ]
    users = [d.inbound.text for d in trace.deliveries if d.inbound.session == session and d.n < n]
    users += [m.text for m in seeds if side(m) == "user" and not m.tool_results]
    asked = [e for e in trace.exchanges if e.called.session == session and e.n < n and e.reply]
    models = [e.reply.text for e in asked if e.purpose == "main" and e.reply]
    models += [m.text for m in seeds if side(m) == "assistant"]
    made = [c for c in trace.compactions if c.turn.session == session and c.n < n]
    lasts = [c.calls[-1].reply for c in made if c.calls and not c.failed]
    summaries = [last.text for last in lasts if last and len(squeeze(last.text)) >= PROPER]
    found = [("user", Said("words", text)) for text in users]
    found += [("assistant", Said("rest", text)) for text in models]
    return found + [("", Said("summary", text)) for text in summaries]


_PIECE = 16
"""The length of the pieces in which a text is looked for that was cut into parts. A part may end in
a piece, so a single one may be missing."""


def _is_in_parts(said: str, shown: Spelt) -> bool:
    """Whether several requests hold a text together, which was cut at any character."""
    text = Spelt(said).plain
    found = [text[at : at + _PIECE] in shown.plain for at in range(0, len(text), _PIECE)]
    return len(found) > 2 and all(any(pair) for pair in pairwise(found))


_CUT = (
    r"…|\.\.\.|omit|left ?out|trunc|\bcut|clip|skip|shorten|remov|elid|clear|drop|not ?shown|redact"
    r"|gek.rzt|tronqu|recort"
)
_NOTICE = re.compile(rf"{_CUT}|\d ?more|\d ?char|\d ?byte|\d ?token", re.IGNORECASE)
_MARK = re.compile(rf"…|\.\.\.|[\[(<*][^\])>\n]{{0,80}}?(?:{_CUT})", re.IGNORECASE)

_NUMBER = re.compile(r"\d+")

_NEAR = 60
"""How many characters, without white space, lie between a cut and its notice at most."""


_BESIDE = 8
"""How many characters before or behind a notice tell which words it cuts off."""

_REST = re.compile(r"[^\])>\n]{0,80}[\])>*]?")


def _is_new(mark: re.Match[str], shown: str, words: str) -> bool:
    """Whether a notice stands before or behind words of a request, which has none there."""
    end = _REST.match(shown, mark.end())
    behind = end.end() if end else mark.end()
    notice = squeeze(shown[mark.start() : behind])
    last = squeeze(shown[max(0, mark.start() - _NEAR) : mark.start()])[-_BESIDE:]
    next_ = squeeze(shown[behind : behind + _NEAR])[:_BESIDE]
    if last and last in words and last + notice not in words:
        return True
    return bool(next_) and next_ in words and notice + next_ not in words


def _is_told(said: str, shown: str) -> bool:
    """Whether a notice beside a text says that it was cut."""
    text, sent = squeeze(said), squeeze(shown.replace('\\"', '"').replace("\\n", "\n"))
    if is_cut_with_notice(text, sent):
        return True
    if (at := sent.find(text[:_HEAD])) < 0:
        return False
    kept = next(n for n in range(len(text), 0, -1) if sent.startswith(text[:n], at))
    return _NOTICE.search(sent[at + kept : at + kept + _NEAR]) is not None


def _marks(text: str) -> Counter[str]:
    """What a text says of what was left out, without the numbers, and how often."""
    return Counter(_NUMBER.sub("#", mark) for mark in _MARK.findall(text))
