"""What an ended turn leaves behind: late results, open questions, old answers, errors, effects.

A turn ends for the user with its reply. What its history keeps of it is what the next turn begins
with, and the model takes for new what stands there without a sender.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.checks.evidence.carried_words import has_no_memory, words_of
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    COMPACTION_BETWEEN,
    FAILED_STORE,
    KILL,
    LIMIT,
    OVERFLOW_BETWEEN,
    REFUSED_WRITE,
    REWRITTEN_STORE,
    TAKEN,
    Case,
    is_killed_between,
)
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import TELLING, claimed, is_resent, is_taken
from harness.core.history.events import Effected
from harness.core.history.exchanges import Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.verdict import Finding

LONG_ENOUGH = 12
"""A shorter text stands in a later turn by chance, without white space."""

_OWN_WORDS = 4
"""The characters from which an agent says something of its own beside two questions."""


_SHORTER = (COMPACTION_BETWEEN, OVERFLOW_BETWEEN)
"""After these a request may lack what came before them."""


@needs("model", "inbox", "outbox", told_by="run", place=405)
@excused_by(
    question=(KILL, LIMIT, REFUSED_WRITE, TAKEN, COMPACTION_BETWEEN),
    result=(COMPACTION_BETWEEN,),
    effect=(KILL, LIMIT, REFUSED_WRITE, FAILED_STORE, REWRITTEN_STORE, *_SHORTER),
)
def turn_closed(history: History) -> Iterator[Finding | Case]:
    """What an ended turn leaves behind does not come up in a later one as new.

    `result`: a tool of a cancelled turn ended late, and its text stands among the words of the user
    in a later turn. `question`: the user was told that a turn failed, and its message stands
    directly beside the next one. So the model answers the old question again, or both in one
    answer. `error`: what the agent told of a failure stands there as words of the user, without
    a note. `effect`: a call of a turn that failed has changed the outside world, and the request of
    the next turn says nothing of it. `reply`: after a restart the user reads the answer of an
    earlier turn again, and nothing says that it is a repetition.

    Not a finding: a late result under the id of its call; a failed message with an answer, or a
    note of any words, before the next one; a failed turn whose calls, or results, or the names of
    its tools are left in any form; an effect with an idempotency key; a stored answer that the
    user may not have got; one that is sent again with a note. `session_isolation` judges the words
    of another session.

    A channel sent the last answer of each chat again at every start. To fix it, end a turn in the
    history as in the outbox: store how it ended, and what was delivered. Source: invariant 32.
    """
    trace = history.trace
    last: dict[str, Turn] = {}
    effects = (event for event in trace.events if isinstance(event, Effected))
    acted = frozenset(event.key for event in effects if not event.idempotency_key)
    for turn in trace.turns.values():
        if turn.delivery is None or turn.redelivery:
            continue
        before, last[turn.session] = last.get(turn.session), turn
        if before is not None and turn.readable:
            yield Case("question", _question(before, turn), before, turn.readable[0].n)
            yield from _error_words(trace, before, turn)
            yield from _effects(history, before, turn, acted)
        yield from _late_results(trace, turn)
    yield from _replies(trace)


def _question(before: Turn, turn: Turn) -> Iterator[Finding]:
    """Yield the message of a failed turn that stands beside the newest one, and nothing else."""
    told, first = before.endings[-1:], turn.readable[0]
    failed = any(claimed(e) in ("failed_truthfully", "limit") for e in told)
    old, new = squeeze(before.text), squeeze(turn.text)
    newest = "".join(squeeze(message.text) for message in first.node.newest())
    taken_in = "".join(squeeze(each.inbound.text) for each in turn.joined)  # it may say the same
    if not (failed and old and new) or old in new or old in taken_in:
        return
    if old not in newest or new not in newest:
        return
    if _rest(newest, (new, old)) < _OWN_WORDS:
        text = f"{first.called.key}: the message of {before.words}, which failed, stands beside "
        text += f"that of {turn.words}, so that the model answers both"
        yield Finding("turn_closed.question", text, (told[0].n, first.n))


def _error_words(trace: Trace, before: Turn, turn: Turn) -> Iterator[Finding]:
    """Yield the agent's own words about a failure that the next request holds as the user's."""
    told, first = before.endings[-1:], turn.readable[0]
    if not told or claimed(told[0]) not in ("failed_truthfully", "limit"):
        return
    words = squeeze(told[0].request.text)
    own = (words, squeeze(turn.text), squeeze(before.text))
    said = (squeeze(n.message.text) for n in first.added if n.side == "user")
    alone = any(words in text and _rest(text, own) < _OWN_WORDS for text in said)
    # A channel that brings the agent's own words back makes them words of the user.
    came = (squeeze(d.inbound.text) for d in trace.deliveries if d.inbound.session == turn.session)
    if len(words) >= LONG_ENOUGH and alone and not any(words in text for text in came):
        text = f"{first.called.key}: what the agent told of the failure of {before.words} stands "
        text += "there as words of the user"
        yield Finding("turn_closed.error", text, (told[0].n, first.n))


def _effects(history: History, before: Turn, turn: Turn, acted: frozenset[str]) -> Iterator[Case]:
    """Yield a case for each effect of a failed turn of which the next request holds no word:
    neither the call nor its result, nor the name of the tool in words of the agent."""
    told, first = before.endings[-1:], turn.readable[0]
    failed = any(claimed(e) in ("failed_truthfully", "limit") for e in told)
    if not failed or first.request.stateful or has_no_memory(history.trace, first):
        return
    for run in before.executions:
        if run.called.key not in acted or run.ask is None or run.failed:
            continue
        # The system text names tools in any case, so only a new one may tell of the call.
        is_new = first.request.system != run.ask.exchange.request.system
        system = str(history.values.get(first.request.system, "")) if is_new else ""
        held = "".join([squeeze(system), *words_of(first.node)])
        for said in filter(None, (squeeze(before.text), squeeze(turn.text))):
            held = held.replace(said, "")
        # An agent may offer a tool under another name than the tool's, which no API takes.
        known = [squeeze(run.request.name), squeeze(run.ask.use.name), squeeze(run.text)]
        known = known if len(known[-1]) >= LONG_ENOUGH else known[:-1]
        if not any(words in held for words in known):
            text = f"{first.called.key}: nothing is left of {run.called.key}, by which "
            text += f"{run.request.name} changed the outside world in {before.words}, which failed"
            found = Finding("turn_closed.effect", text, (run.n, told[0].n, first.n))
            yield Case("effect", [found], before, first.n, run.n)


def _rest(text: str, known: Iterable[str]) -> int:
    """How many characters of a text are none of these words."""
    for words in known:
        text = text.replace(words, "")
    return len(text)


def _late_results(trace: Trace, turn: Turn) -> Iterator[Case]:
    """Yield a case for each result of a cancelled turn that the user seems to say later."""
    if not turn.cancelled_n or trace.profile.results == "text":
        return
    runs = [run for run in turn.executions if run.answered]
    texts = {text: run for run in runs if (text := squeeze(run.text))}
    users = "\n".join(squeeze(delivery.inbound.text) for delivery in trace.deliveries)
    for later in trace.turns.values() if texts else ():
        if later.session != turn.session or later.number <= turn.number or not later.readable:
            continue
        first = later.readable[0]
        said = [squeeze(n.message.text) for n in first.added if n.side == "user"]
        for text, run in texts.items():
            # A short result, such as "ok", tells only where nothing but the message stands beside.
            told = "".join(said) if len(text) >= LONG_ENOUGH else ""
            if text not in users and (text in told or text + squeeze(later.text) in said):
                words = f"{first.called.key}: the late result of {run.called.key}, of {turn.words} "
                words += "that was cancelled, stands among the words of the user"
                found = Finding("turn_closed.result", words, (run.n, first.n))
                yield Case("result", [found], turn, first.n, run.n)


def _replies(trace: Trace) -> Iterator[Finding]:
    """Yield each answer of an earlier turn that is sent again after a kill, as it was."""
    sent: dict[tuple[str, str], Sending] = {}
    for sending in trace.sendings if trace.kills else ():
        key = sending.called.session, (text := squeeze(sending.request.text))
        old, turn = sent.get(key), trace.turns.get((key[0], sending.called.turn))
        if len(text) < LONG_ENOUGH or sending.request.kind not in TELLING or not is_taken(sending):
            continue
        if old is None:
            if sending.ends_turn and _is_answer(trace, text, 0, sending.n):
                sent[key] = sending
        elif (
            turn is not None
            and old.called.turn != turn.number
            and is_killed_between(trace, old.n, sending.n)
            and not _is_answer(trace, text, old.n, sending.n)
            and not is_resent(turn)
        ):
            text = f"after a restart the user of {turn.session} reads the answer of turn "
            text += f"{old.called.turn} again, and nothing says so"
            yield Finding("turn_closed.reply", text, (old.n, sending.n))


def _is_answer(trace: Trace, text: str, after_n: int, before_n: int) -> bool:
    """Whether the model gave this answer between two events."""
    made = (e for e in trace.exchanges if after_n < e.n < before_n and e.reply is not None)
    return any(e.reply is not None and squeeze(e.reply.text) == text for e in made)
