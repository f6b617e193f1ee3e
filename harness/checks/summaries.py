"""Summaries: what the model that writes one is shown, and what its text is used for.

The model that writes a summary reads a request made for that. What that request lacks is lost,
although every later request is valid. Only a comparison of the requests shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.checks.evidence.carried_words import SAYS_LEFT_OUT
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import CANCEL, KILL_BETWEEN, Case
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.summarised_past import PROPER, Change, changes, said_by_agent, text_of
from harness.checks.evidence.turn_outcomes import claimed, wrong
from harness.core.history.history import History
from harness.core.values.messages import canonical
from harness.core.values.verdict import Finding
from harness.core.values.visible_text import SHOWN, abridged

_LEAST = 12
"""A shorter message of another session stands in a request by chance."""


@needs("model", "inbox", told_by="run", place=251)
@excused_by(gone=(KILL_BETWEEN, CANCEL))
def summary_informed(history: History) -> Iterator[Finding | Case]:
    """The model that writes a summary is shown what the summary replaces.

    Asked of a summary that the next main request holds. What that request lacks of the request
    before must stand in a request for a summary. `words`: a message of the user is not there, or
    only a part of it. `rest`: an answer or a tool's result is not there, and no notice says so.
    `summary`: the earlier summary is not there, so that the second forgets the first. `other`: what
    is there instead is the conversation of another session.

    Not a finding: a summary in parts, at once or turn by turn; a summary of summaries; a transcript
    in one message, as text or as JSON; the conversation itself with an instruction behind it; a
    result that is cleared or cut with a notice; a message of the user that is cut with a notice,
    where the conversation was refused for its size; a second summary that is written from all that
    the user ever said; words that the agent itself adds to messages.

    A summary of the first messages reads well, and the newest half of the work is lost. To fix it,
    show the model every message since the last summary, and that summary; in parts if one request
    cannot hold them. Source: invariant 17; design, Carried.
    """
    for change in changes(history):
        if change.is_used and not change.compaction.failed:
            turn = history.trace.turns[change.session, change.after.called.turn]
            yield Case("gone", _uninformed(change), turn, change.after.n, change.compaction.n)


def _uninformed(change: Change) -> Iterator[Finding]:
    lost: dict[str, list[str]] = {}
    other = _other_session(change) if change.gone else ""
    for said in change.gone:
        if not change.is_shown(said, is_noted=not other or said.kind != "words"):
            lost.setdefault(said.kind, []).append(said.text)
    if "summary" in lost and not _is_written_anew(change):
        yield _finding(change, "summary", "the earlier summary", lost["summary"])
    if words := lost.get("words"):
        found = f", but the words of {other}" if other else ""
        yield _finding(change, "other" if other else "words", "words of the user", words, found)
    if rest := lost.get("rest"):
        yield _finding(change, "rest", "an answer or a result", rest)


def _finding(change: Change, rule: str, what: str, texts: list[str], found: str = "") -> Finding:
    call = change.compaction.calls[-1]
    text = f"{call.called.key}: the summary replaces {what} that its model was not shown{found}: "
    text += canonical(abridged(texts[-1], SHOWN))
    text += f" and {len(texts) - 1} more" if len(texts) > 1 else ""
    return Finding(f"summary_informed.{rule}", text, (change.before.n, call.n, change.after.n))


def _is_written_anew(change: Change) -> bool:
    """Whether the requests around a summary hold all that the session's user ever said."""
    return all(change.is_carried(each.text) for each in change.said if each.kind == "words")


def _other_session(change: Change) -> str:
    """The other session whose messages a request for a summary holds; "" for none."""
    came = [each for each in change.history.trace.deliveries if each.n < change.compaction.n]
    inbounds = [delivery.inbound for delivery in came]
    own = {squeeze(each.text) for each in inbounds if each.session == change.session}
    # What was stored before the run may have the words of another session's message.
    before, shown = squeeze(text_of(change.history, change.before)), squeeze(change.shown_now.text)
    for each in inbounds:
        words = squeeze(each.text)
        if len(words) >= _LEAST and words in shown and words not in own and words not in before:
            return each.session
    return ""


@needs("model", "inbox", told_by="run", place=252)
@excused_by(after=(KILL_BETWEEN, CANCEL))
def summary_used(history: History) -> Iterator[Finding | Case]:
    """A summary stands once in the requests after it, as a summary, and a failed one as nothing.

    `lost`: a whole summary was written, what it replaces is gone, and the next main request holds
    neither the summary nor other words in its place. `voice`: the summary is a message of the user,
    and no heading says what it is. `twice`: a main request holds more copies than summaries
    were written. `error`: no summary arrived, and the text of an error stands in its place.
    `wiped`: no summary arrived, the past is gone, nothing says so, and half of the request had room
    for the last of it; or one answer is passed off as the summary.

    Not a finding: a summary that the agent refuses, with a note about what it leaves out; a
    heading, a tag, a question or an answer beside the summary; a request for a summary that asks
    for a heading; a failed compaction after which the user is told. Source: invariant 17; seed 61.
    """
    for change in changes(history):
        if not change.compaction.failed:
            yield from _copies(change)
        turn = history.trace.turns[change.session, change.after.called.turn]
        found = _failed(change) if change.compaction.failed else _made(change)
        yield Case("after", found, turn, change.after.n, change.compaction.n)


def _made(change: Change) -> Iterator[Finding]:
    """What is wrong with the use of a summary that was written."""
    last, after = change.compaction.calls[-1], change.after
    said = squeeze(last.reply.text) if last.reply else ""
    if len(said) < PROPER or wrong(last) or (last.answered and last.answered.faults):
        return
    own = [words for _, words in change.added]
    gone = [each.text for each in change.gone if each.kind == "words"]
    is_shorter = len(said) < sum(len(squeeze(each.text)) for each in change.gone)
    if gone and is_shorter and not own and not change.is_used and change.compaction.gone_on:
        text = f"{after.called.key}: the summary of {last.called.key} is not used, and what it was "
        text += f"to replace is gone: {canonical(abridged(gone[-1], SHOWN))}"
        yield Finding("summary_used.lost", text, (last.n, after.n))
    if change.added == [("user", said)] and not _HEADED.search(change.shown_now.text):
        text = f"{after.called.key}: the summary of {last.called.key} stands there as words of the "
        text += f"user: {canonical(abridged(said, SHOWN))}"
        yield Finding("summary_used.voice", text, (last.n, after.n))


_HEADED = re.compile(
    r"\b(?:begin|start|head|title|prefix|format|tag|section|write as)|<\w+>|^#", re.I | re.M
)
"""What a request for a summary says that asks for a heading of it."""


def _copies(change: Change) -> Iterator[Finding]:
    """Yield a finding if a later main request holds more copies of a summary than were written."""
    trace, last = change.history.trace, change.compaction.calls[-1]
    said = squeeze(last.reply.text) if last.reply else ""
    made = [c for c in trace.compactions if c.turn.session == change.session]
    written = sum(squeeze(e.reply.text) == said for c in made for e in c.calls if e.reply)
    end_n = next((c.n for c in made if c.n > change.compaction.n), len(trace.events) + 1)
    for exchange in trace.exchanges if len(said) >= PROPER else ():
        called = exchange.called
        if not (change.after.n <= exchange.n < end_n) or called.session != change.session:
            continue
        if (
            exchange.purpose == "main"
            and said_by_agent(change.history, exchange).count(said) > written
        ):
            text = f"{called.key} holds the summary of {last.called.key} more than once"
            yield Finding("summary_used.twice", text, (last.n, exchange.n))
            return


_ERROR = re.compile(
    r"errorcode:?\d{3}|.type.:.error|[a-z]_error\b|[A-Za-z]Error[(:]|Traceback|promptistoolong"
    r"|(?:http|status)[a-z]{0,20}:?[45]\d\d|overloaded",
    re.IGNORECASE,
)
"""How the text of an error reads, without white space."""


def _failed(change: Change) -> Iterator[Finding]:
    """What is wrong with a request after a compaction that brought no summary."""
    last, after = change.compaction.calls[-1], change.after
    own = "\n".join(words for _, words in change.added)
    # An agent without a summary may quote the past, in which the user may have shown an error.
    before = squeeze(text_of(change.history, change.before))
    wrote = next((found for found in _ERROR.finditer(own) if found[0] not in before), None)
    if wrote and change.gone and not SAYS_LEFT_OUT.search(own.replace(wrote[0], "")):
        text = f"{after.called.key}: the text of an error stands in place of the summary that "
        text += f"{last.called.key} did not bring: {canonical(abridged(own, SHOWN))}"
        yield Finding("summary_used.error", text, (last.n, after.n))
    elif _is_wiped(change) and not SAYS_LEFT_OUT.search(change.own_words):
        text = (
            f"{last.called.key} brought no summary, and {after.called.key} holds nothing of what "
        )
        text += "was said before this turn"
        yield Finding("summary_used.wiped", text, (last.n, after.n))
    elif (repeated := change.passed_off) and not SAYS_LEFT_OUT.search(own):
        text = (
            f"{last.called.key} brought no summary, and in {after.called.key} one earlier answer "
        )
        text += f"stands for all that was said: {canonical(abridged(repeated, SHOWN))}"
        yield Finding("summary_used.wiped", text, (last.n, after.n))


def _is_wiped(change: Change) -> bool:
    """Whether nothing of two texts or more is left, although half of the request had room for the
    last of them. The user reads no word of it."""
    turn, past = change.compaction.turn, change.past
    # The history may call an answer broken which the agent has read to its end.
    if len(past) < 2 or len(past) > len(change.gone) or change.is_used:
        return False
    if any(s.request.kind == "notice" for s in turn.sendings):
        return False
    if any(claimed(ending) != "completed" for ending in turn.endings):
        return False
    whole = len(squeeze(text_of(change.history, change.before)))
    return 2 * (len(squeeze(change.now.text)) + len(squeeze(past[-1].text))) <= whole
