"""Recovery: an agent resumes its work once after a kill, and its session works after a fault.

A turn that kills its agent kills it again on resume, so attempts are bounded. An attempt is the
time between two kills. A fault may cost its own turn, but no later one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import msgspec

from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    BLANK,
    CANCEL,
    LIMIT,
    REDELIVERY,
    Marks,
    holds_for,
    is_killed_between,
)
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import (
    TELLING,
    WINDOW_RULES,
    asked_ms,
    claimed,
    is_our_own,
    is_taken,
    is_waiting,
    wrong,
)
from harness.core.history.events import Answered, AnyEvent, Effected, Killed
from harness.core.history.exchanges import Exchange, Execution, Sending
from harness.core.history.history import History
from harness.core.history.past import MessageName
from harness.core.history.trace import Trace, Turn
from harness.core.values.verdict import Finding


@needs("model", "inbox", told_by="run", place=370)
def resume_bounded(history: History, *, resumes: int = 1) -> Iterator[Finding]:
    """After a kill, a turn is resumed at most `resumes` times, and none of its calls is repeated.

    `again`: a message is sent to the model in more than `resumes` + 1 attempts. `parked`: `resumes`
    + 1 attempts at a message were each killed before their end. The restarted agent then ends
    without a report about the message. `executed`: a call ran before a kill, the model saw no
    result of it, and it runs again after the kill.

    Not a finding: finishing an interrupted turn once; delivering again a reply that was stored; a
    message that was handed out and not begun; a call that the model requests again because the
    outcome is unknown; a repetition with the same idempotency key.

    A resumed session ran the command that restarted its own gateway, again after each start
    (NousResearch/hermes-agent#49201). To fix it, store a mark before a turn begins. Answer open
    calls with "outcome unknown". Park a turn that was begun twice. Source: invariant 31.
    """
    trace = history.trace
    kills = trace.kills
    if not kills:
        return
    for message, attempts in _attempts(trace, kills).items():
        begun = [exchange.n for exchange in attempts.values()]
        if len(begun) > resumes + 1:
            text = f"the message {message[1]} is worked on for the {_th(resumes + 2)} time, after "
            text += f"{len(begun) - 1} kills{_from_the_beginning(trace, list(attempts.values()))}"
            yield Finding("resume_bounded.again", text, tuple(begun[: resumes + 2]))
        yield from _parked(trace, message, attempts, kills, resumes)
    yield from _executed(trace, kills)


def _th(number: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(number, f"{number}th")


def _from_the_beginning(trace: Trace, begun: list[Exchange]) -> str:
    """What to add where no attempt keeps anything that the one before has done."""
    first, *again = begun
    has_run = any(first.n < run.n < again[0].n for run in trace.executions)
    is_anew = has_run and all(exchange.node is first.node for exchange in again)
    return ", each time from its beginning: nothing of an attempt is stored" if is_anew else ""


def _attempts(trace: Trace, kills: list[int]) -> dict[MessageName, dict[int, Exchange]]:
    """Map each message to the attempts that worked on it, each with its first main request.

    An attempt of which the store lost rows by a fault does not count: a commit that was never made
    takes the note of the attempt too, and no agent can know of it.
    """
    lost = (look.n for look in trace.stored if look.gone and look.n in trace.damages)
    forgotten = {bisect_left(kills, n) - 1 for n in lost}
    found: dict[MessageName, dict[int, Exchange]] = {}
    for turn in trace.turns.values():
        if turn.delivery is None:
            continue
        attempts = found.setdefault((turn.session, turn.delivery.inbound.id), {})
        for exchange in turn.exchanges:
            attempt = bisect_left(kills, exchange.n)
            if exchange.purpose == "main" and attempt not in forgotten:
                attempts.setdefault(attempt, exchange)
    return found


def _parked(
    trace: Trace,
    message: MessageName,
    attempts: dict[int, Exchange],
    kills: list[int],
    resumes: int,
) -> Iterator[Finding]:
    """A message whose attempts were killed too often, and that has no report."""
    killed = [kills[attempt] for attempt in attempts if attempt < len(kills)]
    if len(killed) <= resumes or trace.ended is None or trace.ended.how != "returned":
        return
    if not any(n > attempts[min(attempts)].n for n in _told(trace, message)):
        text = f"the message {message[1]} was interrupted {len(killed)} times, and nothing is said"
        yield Finding("resume_bounded.parked", text, (*killed, trace.ended.n))


def _told(trace: Trace, message: MessageName) -> Iterator[int]:
    """The events at which the user is told the end of a message."""
    session, name = message
    for turn in trace.turns.values():
        if turn.session != session and turn.session in trace.received[name]:
            continue  # there the id names another message
        own = turn.delivery is not None and turn.delivery.inbound.id == name
        for sending in turn.sendings:
            about = sending.named or ((name,) if own else ())
            if is_taken(sending) and name in about and sending.request.kind in TELLING:
                yield sending.n


def _executed(trace: Trace, kills: list[int]) -> Iterator[Finding]:
    effects: dict[str, set[str]] = {}
    for event in trace.events:
        if isinstance(event, Effected):
            effects.setdefault(event.key, set()).add(event.idempotency_key)
    first: dict[int, Execution] = {}
    for run in trace.executions:
        if run.ask is None:
            continue
        before = first.setdefault(id(run.ask), run)
        place = bisect_left(kills, before.n)
        killed_n = kills[place] if place < len(kills) else run.n
        known = 0 < run.ask.sent_n < killed_n
        if killed_n < run.n and not known and not _same_effect(effects, before, run):
            text = f"{run.called.key}: {run.request.name} ran before the kill with a result that "
            text += "the model has not seen, and is run again"
            yield Finding("resume_bounded.executed", text, (before.n, killed_n, run.n))


def _same_effect(effects: dict[str, set[str]], first: Execution, again: Execution) -> bool:
    """Whether one idempotency key makes the effects of two runs one; `effects` holds those of each
    call."""
    one, two = effects.get(first.called.key, set()), effects.get(again.called.key, set())
    return bool(one) and "" not in one and one == two


_DEAD = ("crashed", "hung")

_NOT_COUNTED = (BLANK, REDELIVERY, CANCEL, LIMIT)
"""Turns that need no ordinary reply."""

MANY_PAUSES = 3
"""The number of model pauses in a turn after which an agent may end the turn."""


@needs("model", "inbox", "outbox", told_by="run", place=430)
@excused_by(message=_NOT_COUNTED)
def session_heals(history: History, *, messages: int = 2) -> Iterator[Finding]:
    """After a fault, the next `messages` messages of the session get an ordinary reply.

    A fault is an injected fault at any seam, a kill, a cancel or a failed tool. A seeded session
    counts as a fault too, because it may hold anything. A turn with a fault is not judged.
    `refused`: the last request of a later turn is refused for its content. `unasked`: the turn ends
    with an error, without a request to the model. `unanswered`: the model answered in words and
    without a call, but the turn has no successful final, or the agent ended.

    Not a finding: a turn that the model refuses, cuts off, or spends on calls or pauses; a
    conversation that is longer than the model's window; a message that is blank, repeated or
    interrupted; a pause that the provider asked for and that is not over yet; an answer that the
    user gets with a note of what is still missing.

    The history held one tool call without a result, and every later prompt got status 400
    (anthropics/claude-code#1831). To fix it, build each request from the stored rows in a way that
    is valid for any rows. Keep no state of a turn after its end. Source: invariant 32.
    """
    trace = history.trace
    faults, marks = _Faults(trace), Marks(trace)
    states: dict[str, _State] = {}
    for turn in trace.turns.values():
        if turn.delivery is None or not turn.settled_n:
            continue
        state = states.setdefault(turn.session, _State())
        last_n = faults.last(turn)
        if last_n > state.since_n:
            state.since_n, state.left = last_n, messages
        # A fault or a kill in the turn starts the count of messages again. One that was offered
        # before a kill may have been begun in that life.
        is_begun = turn.begun_n or turn.interrupted_n or turn.delivery.inbound.attempt > 1
        is_begun = is_begun or is_killed_between(trace, turn.delivery.n, turn.opened_n)
        if last_n >= turn.delivery.n or is_begun:
            state.left = messages
        elif state.left and _counts(marks, turn):
            state.left -= 1
            if faults.are_over(turn) and (rule := _unwell(turn)):
                text = f"{turn.words} meets no fault, and {_how(trace, turn, rule)}"
                events = (state.since_n, turn.delivery.n, turn.settled_n)
                yield Finding(f"session_heals.{rule}", text, events)


class _State(msgspec.Struct):
    """A session: the event of its last fault, and how many messages are still to be judged."""

    since_n: int = 0
    left: int = 0


class _Faults:
    """The faults by session; a fault without a session concerns all sessions."""

    def __init__(self, trace: Trace) -> None:
        self._events = trace.events
        self._found: dict[str, list[int]] = {}
        self._pauses: list[tuple[int, float]] = [(0, 0.0)]
        for session, n in fault_events(trace):
            self._found.setdefault(session, []).append(n)
        for answered in trace.answers:
            if pause_ms := asked_ms(answered.retry_after):
                over_ms = max(self._pauses[-1][1], answered.at_ms + pause_ms)
                self._pauses.append((answered.n, over_ms))

    def last(self, turn: Turn) -> int:
        """The event of the last fault in or before a settled turn; 0 without a fault."""
        found = [self._found.get(session, []) for session in {"", turn.session}]
        places = [(ns, bisect_right(ns, turn.settled_n)) for ns in found]
        return max((ns[place - 1] for ns, place in places if place), default=0)

    def are_over(self, turn: Turn) -> bool:
        """Whether every pause that the provider asked for was over when the turn began."""
        assert turn.delivery is not None
        n = turn.delivery.n
        place = bisect_right(self._pauses, n, key=lambda pause: pause[0])
        return self._events[n - 1].at_ms >= self._pauses[place - 1][1]


def fault_events(trace: Trace) -> Iterator[tuple[str, int]]:
    """The session and the number of each fault, kill, cancel and failed tool, in order. A seeded
    session comes first, and concerns all sessions (""), because it may hold anything."""
    if trace.stored and trace.deliveries and 0 < trace.stored[0].n < trace.deliveries[0].n:
        yield "", trace.stored[0].n
    elif trace.settings.get("seeded") and not trace.stored:  # in a store that nothing reads
        yield "", trace.starts[0].n
    failed = {run.answered.n for run in trace.executions if run.answered and run.failed}
    for event in trace.events:
        if event.n in failed or _is_fault(event):
            yield event.session, event.n


def _is_fault(event: AnyEvent) -> bool:
    """Whether the event is an injected fault, a kill of the agent, or a cancelled turn."""
    if isinstance(event, Answered):
        value = event.value if event.seam == "inbox" else None
        taken_back = isinstance(value, dict) and value.get("kind", "message") != "message"
        return bool(event.faults) or taken_back
    return isinstance(event, Killed)


def _counts(marks: Marks, turn: Turn) -> bool:
    """Whether a healthy agent must answer a turn. The turn is counted, so its excuses come
    first."""
    if holds_for(turn, marks, _NOT_COUNTED):
        return False
    answers = (e.answered for e in turn.exchanges)
    return not any(answered and is_our_own(answered) for answered in answers)


def _unwell(turn: Turn) -> str:
    """The rule that a turn's end breaks; "" if it breaks none, or the agent is not at fault. One
    that asks the user waits for the answer."""
    if is_waiting(turn) or any(
        claimed(s) == "completed" and s.request.kind == "final" for s in turn.endings
    ):
        return ""
    asked = turn.main or turn.exchanges  # a summary may be all that the agent asked for
    last = asked[-1] if asked else None
    died = turn.settled_by in _DEAD
    if last is not None and last.called.refused and not last.succeeded:
        return "" if WINDOW_RULES.intersection(last.called.refused) else "refused"
    if last is None or not turn.main:
        return "unasked" if turn.endings or died else ""
    said = squeeze(last.reply.text) if last.reply else ""
    pauses_on = sum(exchange.stop == "pause_turn" for exchange in turn.main) >= MANY_PAUSES
    # An agent of several agents may send the answer with a note of what is still missing.
    sent = [squeeze(e.request.text).partition(said or " ") for e in turn.endings]
    is_noted = any(found and (before or after) for before, found, after in sent)
    in_words = bool(said) and not (is_noted or turn.asks or pauses_on or wrong(last))
    return "unanswered" if in_words and (turn.endings or died) else ""


def _how(trace: Trace, turn: Turn, rule: str) -> str:
    """How a turn ends, in words; one that tells of a cancel met the cancel of another turn."""
    if rule != "unasked" or turn.cancelled_n or not any(map(_tells_a_cancel, turn.endings)):
        return _WORDS[rule]
    met = [t for t in trace.turns.values() if 0 < t.cancelled_n < turn.settled_n]
    own = [t for t in met if t.session == turn.session]
    why = "".join(f": the user cancelled {t.words}" for t in (own or met)[-1:])
    return f"ends as cancelled without asking the model{why}"


def _tells_a_cancel(ending: Sending) -> bool:
    return claimed(ending) == "cancelled"


_WORDS = {
    "refused": "its last request is refused for its content",
    "unasked": "ends without a reply and without asking the model",
    "unanswered": "the model's answer does not become its reply",
}
