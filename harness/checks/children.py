"""What passes from a child to its parent: its text, its failure, and when.

A child is a sub-agent: another session that works for a turn, in its call or in the background. Its
end is the only moment at which its work counts, and no provider sees whether that reaches anybody.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.checks.evidence.children_told import (
    LEAST,
    ChildEnd,
    ParentReads,
    child_ends,
    claims_success,
    claims_work,
    open_turn,
)
from harness.checks.evidence.declarations import needs
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.told_results import is_other_script, reads_as_failure
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace, children
from harness.core.history.trace_fold import REACTION_MS
from harness.core.values.carried_text import is_asked, lost_parts
from harness.core.values.messages import ToolResult, strings_in
from harness.core.values.verdict import Cause, Finding
from harness.core.values.visible_text import SHOWN, abridged

_WORD, _LEAST_WORDS = re.compile(r"[^\W_]{4,}"), 3
"""A word that tells what a task is about, and how many of them a task needs to be known by."""

_ENGLISH = re.compile(r"\b(?:the|a|you|your|to|of|and|is|are|for|this|it)\b", re.IGNORECASE)
"""Of four words or more, a sentence of a program holds one of these; a translation does not."""


class _Family(NamedTuple):
    """The ends of all children of a run, and what the parent of one of them reads."""

    trace: Trace
    ends: Sequence[ChildEnd]
    reads: ParentReads


@needs("model", "inbox", told_by="run", place=312)
def child_result(history: History) -> Iterator[Finding]:
    """What a child hands up is what its parent is given, once, and a failure is told as one.

    A child is a session that names its parent in its first request. The result of the call that
    made it holds its last text. For a child in the background, a later request of its parent does.
    `lost`: none does. `part`: a part is missing, and nothing says so. `another`: the text goes to
    another call or session in its place. `doubled`: a request holds it twice. `late`, `early`: the
    request that first holds it is not that of the profile's `children`. `told_as_done`: a child
    that was stuck, cut or killed, whose model failed or whose last answer is empty, is told as if
    it had finished. `untold`: nothing is said of it at all, as after a restart. `unasked`: the
    first request of a child has no word of what its call asks for.

    Not a finding: a task in other words; what a model made of the text on request; a note with the
    place of a text; a child that is told as failed, in any words; a result that the model asks for
    again; a text that waits for the next turn; in real time, a request that begins up to ten
    seconds after the end, for it may have been composed before. A run that ends before its parent
    has another turn asks nothing of a child in the background. A parent that has forgotten the call
    after a kill is not asked either.

    To fix it, keep the end of each child in the store of the session, until a request of its parent
    holds it. Source: anthropics/claude-code#86365, nearai/ironclaw#4084,
    OpenHands/software-agent-sdk#3703.
    """
    ends = child_ends(history.trace)
    reads = {
        name: ParentReads(history, name) for name in dict.fromkeys(e.child.parent for e in ends)
    }
    for end in ends:
        family = _Family(history.trace, ends, reads[end.child.parent])
        yield from _unasked(history, end)
        if end.is_unclear:
            continue
        if end.how == "done" and is_asked(end.text):
            yield from _handed_up(family, end)
        elif end.how == "done" and not end.text:
            yield from _told_of_silence(family, end)
        elif end.how not in ("done", "open"):
            yield from _told_of_failure(family, end)


def _unasked(history: History, end: ChildEnd) -> Iterator[Finding]:
    """Yield the first request of a child to which nothing of the call comes, also by a tool, where
    no model wrote it before."""
    exchanges, ask = history.trace.exchanges, end.ask
    if ask is None or ask.use.name in history.trace.settings.get("tools", {}):
        return
    at = bisect_left(exchanges, end.child.n, key=lambda exchange: exchange.n)
    first, asked = exchanges[at], " ".join(strings_in(ask.use.input))
    begun = bisect_left(exchanges, ask.exchange.n + 1, key=lambda exchange: exchange.n)
    is_written = any(e.called.session == end.child.parent for e in exchanges[begun:at])
    after = bisect_left(exchanges, end.said_n, lo=at + 1, key=lambda exchange: exchange.n)
    own = (e for e in map(exchanges.__getitem__, range(after - 1, at, -1)) if _is_of(e, end))
    messages = [n.message for n in next(own, first).node.tail() if n.side != "assistant"]
    system, said = history.values.get(first.request.system, ""), first.node.message.text
    given = set(_WORD.findall(f"{system} {messages}".lower()))
    words = set(_WORD.findall(asked.lower()))
    if is_written or len(words) < _LEAST_WORDS or words & given or _is_translated(said):
        return
    text = f'{first.called.key} has no word of what {ask.use.name} asks: "{abridged(asked, SHOWN)}"'
    cause = Cause(tool=ask.use.name)
    yield Finding("child_result.unasked", text, (ask.exchange.n, first.n), cause=cause)


def _is_of(exchange: Exchange, end: ChildEnd) -> bool:
    return exchange.called.session == end.child.session


def _is_translated(text: str) -> bool:
    return is_other_script(text) or (len(text.split()) > 3 and not _ENGLISH.search(text))


def _handed_up(family: _Family, end: ChildEnd) -> Iterator[Finding]:
    carrier = family.reads.carrier(end)
    if carrier is None:
        yield from _lost(family, end)
        return
    copies = family.reads.copies(end) if len(squeeze(end.text)) >= LEAST else 0
    if copies > _times_said(family, end.text):
        last = family.reads.main[-1]
        text = (
            f"{last.called.key} holds the result {end.said} of {end.child.session} {copies} times"
        )
        yield _finding("doubled", text, end, last.n)
    yield from _in_time(family, end, carrier)


def _times_said(family: _Family, text: str) -> int:
    """How often the children say a text: a parent that talks with a child reads it each time."""
    names = {end.child.session for end in family.ends}
    replies = [e.reply for e in family.trace.exchanges if e.called.session in names and e.succeeded]
    return sum(reply is not None and squeeze(text) in squeeze(reply.text) for reply in replies)


def _lost(family: _Family, end: ChildEnd) -> Iterator[Finding]:
    if not family.trace.ended or _is_cancelled(family.trace, end):
        return
    said = f"{end.child.session} says {end.said}"
    if end.result is not None:
        yield from _lost_in_its_call(family, end, end.result)
        return
    if (chance := _chance(family, end)) is None:
        return
    if found := _in_another_session(family, end):
        text = f"{said}, and {found.called.session} reads it in place of {end.child.parent}"
        yield _finding("another", text, end, found.n)
    elif part := family.reads.part(end):
        if part == "silent":
            text = f"{said}, and {end.child.parent} reads a part of it"
            yield _finding("part", text, end, chance.n)
    # What a model sums up cannot tell of a text that it was not shown, nor can the wish for it.
    elif not list(family.reads.notices(end, family.ends, of_summaries=False)):
        text = f"{said}, and no later request of {end.child.parent} holds it"
        yield _finding("lost", text, end, chance.n)


def _lost_in_its_call(family: _Family, end: ChildEnd, sent: ToolResult) -> Iterator[Finding]:
    """Yield what stands in place of the text of a child, where its call waited for it."""
    said, n = f"{end.child.session} says {end.said}", end.result_n
    answered = (e for e in family.reads.main if e.n >= n and e.succeeded)
    if sent.is_error or next(answered, None) is None:
        return
    others = [o for o in family.ends if o is not end and is_asked(o.text)]
    theirs = [o for o in others if lost_parts(o.text, end.text)]
    if other := next((o for o in theirs if not lost_parts(o.text, sent.text)), None):
        text = f"{said}, and its call gets the result of {other.child.session}"
        yield _finding("another", text, end, n)
    elif not reads_as_failure(sent.text) and (part := family.reads.part(end)) != "told":
        what = "a part of it" if part else "nothing of it"
        text = f"{said}, and {end.child.parent} reads {what}"
        yield _finding("part" if part else "lost", text, end, n)


def _in_another_session(family: _Family, end: ChildEnd) -> Exchange | None:
    if len(squeeze(end.text)) < LEAST:
        return None
    own = end.child.session, end.child.parent
    others = (e for e in family.trace.exchanges if e.n > end.n and e.called.session not in own)
    for exchange in others:
        said = "\n".join(
            part
            for node in exchange.added
            if node.side != "assistant"
            for part in (node.message.text, *(r.text for r in node.message.tool_results))
        )
        if squeeze(end.text) in squeeze(said):
            return exchange
    return None


def _words_of(trace: Trace, end: ChildEnd) -> list[str]:
    """The texts of a child, in order."""
    own = (e for e in trace.exchanges if e.called.session == end.child.session)
    return [e.reply.text for e in own if e.reply is not None and e.succeeded]


def _told_of_silence(family: _Family, end: ChildEnd) -> Iterator[Finding]:
    """Yield the words with which a call fills in for a child that said nothing at its end."""
    sent, said = end.result, "\n".join(_words_of(family.trace, end))
    if sent is not None and not sent.is_error and claims_work(sent.text, said):
        yield _as_finished(end, "ends with an empty answer")


def _told_of_failure(family: _Family, end: ChildEnd) -> Iterator[Finding]:
    what = f"{end.child.session} {_WORDS[end.how]}"
    if (sent := end.result) is not None:
        told = sent.text.strip()
        its_own = told in map(str.strip, _words_of(family.trace, end))
        is_passed_on = its_own and not reads_as_failure(told)
        if not sent.is_error and (is_passed_on or claims_success(told, end.text)):
            yield _as_finished(end, _WORDS[end.how])
        return
    if not family.trace.ended or _is_cancelled(family.trace, end):
        return
    chance = _chance(family, end)
    if chance is None or not family.reads.remembers(end.ask, end.n):
        return
    notices = list(family.reads.notices(end, family.ends))
    if not notices:
        text = f"{what}, and no later request of {end.child.parent} says so"
        yield _finding("untold", text, end, chance.n)
    elif len(family.ends) == 1 and all(claims_success(text, end.text) for text in notices):
        text = f"{what}, and {end.child.parent} reads it as finished"
        yield _finding("told_as_done", text, end, chance.n)


_WORDS = {
    "cut": "is cut off",
    "failed": "gets no answer of the model",
    "stuck": "stops in the middle of its work",
    "killed": "ends with its process",
}


def _in_time(family: _Family, end: ChildEnd, carrier: Exchange) -> Iterator[Finding]:
    """Ask the first request that holds a result whether it is that of the profile's policy.

    A child may end while its parent builds a request, so the second one is in time too.
    """
    policy, turn = family.trace.profile.children, open_turn(family.trace, end)
    if policy is None or turn is None or end.result is not None:
        return
    # A child may end between a message and the first request of its turn, which may hold the text.
    has_begun = any(exchange.n < end.n for exchange in turn.readable[:1])
    is_there = carrier.called.turn == turn.number and has_begun
    known_n = family.reads.known_n(end)
    after = [e for e in turn.readable if e.n > known_n and e.succeeded]
    text = f"{end.child.session} ends during {turn.words}, and {carrier.called.key} first holds it"
    if policy == "steer" and len(after) > 1 and carrier.n > after[1].n:
        yield _finding("late", text, end, carrier.n)
    if policy == "queue" and is_there:
        yield _finding("early", text, end, carrier.n)


def _chance(family: _Family, end: ChildEnd) -> Exchange | None:
    """A request with which the parent had a chance to read of a child: of a later turn that ended,
    or any after the end where the parent is a child itself."""
    known_n = family.reads.known_n(end)
    later = [e for e in family.reads.main if e.n > known_n and e.succeeded]
    if end.child.parent in children(family.trace):
        return next(iter(later), None)
    turns = family.trace.turns
    for exchange in later:
        turn = turns.get((end.child.parent, exchange.called.turn))
        if turn and turn.main[0].n > known_n and turn.settled_n and turn.endings:
            return exchange
    return None


def _is_cancelled(trace: Trace, end: ChildEnd) -> bool:
    """Whether the user has cancelled a turn of the parent since the child began."""
    turns = (t for t in trace.turns.values() if t.session in (end.child.parent, end.child.root[0]))
    return any(turn.cancelled_n > 0 and turn.settled_n > end.child.n for turn in turns)


def _as_finished(end: ChildEnd, how: str) -> Finding:
    text = f"{end.child.session} {how}, and {end.child.parent} reads it as finished"
    return _finding("told_as_done", text, end, end.result_n)


def _finding(rule: str, text: str, end: ChildEnd, n: int) -> Finding:
    tool = end.ask.use.name if end.ask else ""
    events = (end.child.n, end.said_n, n) if end.said_n < n else (end.child.n, n)
    return Finding(f"child_result.{rule}", text, events, cause=Cause(tool=tool))


@needs("model", "inbox", told_by="run", place=411)
def child_cancelled(history: History) -> Iterator[Finding]:
    """Once the agent has seen a cancel, a child that the turn waits for does nothing more.

    `goes_on`: a child of the turn asks the model after it, while the call that made it is open. So
    does a child of an agent that asks for cancels, and not while it waits for this child.

    Not a finding: a child in the background, whose call has its result already; a request that was
    in transit when the cancel came. To fix it, let each child look for the cancel of its turn.
    Source: invariant 21; agentscope-ai/agentscope-java#2408.
    """
    trace = history.trace
    cancelled = [turn for turn in trace.turns.values() if turn.cancelled_n]
    ends = child_ends(trace) if cancelled else []
    for turn in cancelled:
        own = turn.session, turn.number
        waited = {e.child.session: e.ask.sent_n for e in ends if e.child.root == own and e.ask}
        for exchange in trace.exchanges:
            called = exchange.called
            is_late = called.n > turn.cancelled_n and called.at_ms >= turn.cancel_met_ms
            is_late = is_late or turn.cancel_came_ms + REACTION_MS <= called.at_ms
            sent_n = waited.get(called.session, called.n)
            # The call has its result: the child works in the background, and no turn waits for it.
            is_apart = 0 < sent_n < min(turn.cancelled_n, called.n)
            if called.session in waited and is_late and not is_apart and not called.sdk_retry:
                del waited[called.session]
                text = f"{turn.words} was cancelled, and its child {called.session} asks the model"
                proof = sorted((turn.cancelled_n, exchange.n))
                yield Finding("child_cancelled.goes_on", text, tuple(proof))
