"""Whether a session gets well: what went wrong is over, and the next messages are answered.

A fault may cost the turn that it meets. It must not cost the turns after it, for then the agent has
kept it: a row that every later request carries, a flag that nobody clears, a store that was given
up. So a turn is judged by itself, and only what the agent could have done better is held against
it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import msgspec

from harness.checks.evidence.answers import OWN_ERRORS, WINDOW_RULES, asked_ms
from harness.checks.evidence.outcomes import claimed, wrong
from harness.core.history.events import Answered, AnyEvent, Killed
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding

_DEAD = ("crashed", "hung")

MANY_PAUSES = 3
"""From so many pauses of the model in a turn on, an agent may end it."""


@needs("model", "inbox", "outbox")
def session_heals(history: History, *, messages: int = 2) -> Iterator[Finding]:
    """When a fault is over, the next `messages` messages of the session get an ordinary reply.

    A fault is one that was injected at any seam, a kill, a cancel, a tool that failed, or a stored
    session to begin with, which may hold anything; a turn in which one is met is not judged.
    `refused`: the last request of a later turn is refused for what the agent sends. `unasked`: the
    turn ends with an error, and the model was not asked. `unanswered`: the model answered in words,
    in order and without a call, and the turn brings no final that is a success, or the agent ended.
    Not meant: a turn that the model declines, cuts short, or spends on calls or pauses; a
    conversation that is longer than the model's window; a message that is blank, came before, or
    was interrupted; a pause that the provider asked for and that is not over yet. One tool call
    without a result stood in the history, and every later prompt was answered with status 400
    (anthropics/claude-code#1831). An agent mends it by making each request from its rows anew, so
    that it is valid whatever they hold, and by state that ends with its turn. Source: invariant 32.
    """
    trace = history.trace
    faults = _Faults(trace)
    states: dict[str, _State] = {}
    for turn in trace.turns.values():
        if turn.delivery is None or not turn.settled_n:
            continue
        state = states.setdefault(turn.session, _State())
        last_n = faults.last(turn)
        if last_n > state.since_n:
            state.since_n, state.left = last_n, messages
        if last_n >= turn.delivery.n or turn.begun_n or turn.interrupted_n:
            state.left = messages
        elif state.left and _counts(turn):
            state.left -= 1
            if faults.are_over(turn) and (rule := _unwell(turn)):
                text = f"turn {turn.number} of {turn.session} meets no fault, and {_WORDS[rule]}"
                events = (state.since_n, turn.delivery.n, turn.settled_n)
                yield Finding(f"session_heals.{rule}", text, events)


class _State(msgspec.Struct):
    """A session: the event of its last fault, and how many messages are still to be judged."""

    since_n: int = 0
    left: int = 0


class _Faults:
    """What went wrong, by session; what names none concerns all."""

    def __init__(self, trace: Trace) -> None:
        self._events = trace.events
        self._found: dict[str, list[int]] = {}
        self._pauses: list[tuple[int, float]] = [(0, 0.0)]
        seeded = next((s.n for s in trace.stored), 0)
        if trace.deliveries and 0 < seeded < trace.deliveries[0].n:
            self._found[""] = [seeded]
        failed = {run.answered.n for run in trace.executions if run.answered and run.failed}
        for event in trace.events:
            if event.n in failed or _is_fault(event):
                self._found.setdefault(event.session, []).append(event.n)
            if isinstance(event, Answered) and (pause_ms := asked_ms(event.retry_after)):
                over_ms = max(self._pauses[-1][1], event.at_ms + pause_ms)
                self._pauses.append((event.n, over_ms))

    def last(self, turn: Turn) -> int:
        """The last one that a settled turn has met or followed; 0 for none."""
        found = [self._found.get(session, []) for session in {"", turn.session}]
        places = [(ns, bisect_right(ns, turn.settled_n)) for ns in found]
        return max((ns[place - 1] for ns, place in places if place), default=0)

    def are_over(self, turn: Turn) -> bool:
        """Whether every pause that a provider has asked for was over when the turn began."""
        assert turn.delivery is not None
        n = turn.delivery.n
        place = bisect_right(self._pauses, n, key=lambda pause: pause[0])
        return self._events[n - 1].at_ms >= self._pauses[place - 1][1]


def _is_fault(event: AnyEvent) -> bool:
    """Whether a fault was injected here, or the agent killed, or a turn taken back."""
    if isinstance(event, Answered):
        value = event.value if event.seam == "inbox" else None
        taken_back = isinstance(value, dict) and value.get("kind", "message") != "message"
        return bool(event.faults) or taken_back
    return isinstance(event, Killed)


def _counts(turn: Turn) -> bool:
    """Whether a turn is one that a well agent answers."""
    usual = turn.text.strip() and not (turn.redelivery or turn.cancelled_n or turn.limits)
    asked_of_us = (e.answered for e in turn.exchanges)
    return bool(usual) and not any(a and a.error.startswith(OWN_ERRORS) for a in asked_of_us)


def _unwell(turn: Turn) -> str:
    """What is wrong with how a turn ended; "" when nothing is, or the agent could not help it."""
    if any(claimed(s) == "completed" and s.request.kind == "final" for s in turn.endings):
        return ""
    last = turn.main[-1] if turn.main else None
    died = turn.settled_by in _DEAD
    if last is None:
        return "unasked" if turn.endings or died else ""
    if last.called.refused and not last.succeeded:
        return "" if WINDOW_RULES.intersection(last.called.refused) else "refused"
    said = last.reply.text.strip() if last.reply else ""
    in_words = bool(said) and not (turn.asks or _pauses_on(turn) or wrong(last))
    return "unanswered" if in_words and (turn.endings or died) else ""


def _pauses_on(turn: Turn) -> bool:
    """Whether the model paused again and again, until the agent may ask for its last words."""
    return sum(exchange.stop == "pause_turn" for exchange in turn.main) >= MANY_PAUSES


_WORDS = {
    "refused": "its last request is refused for what the agent sends",
    "unasked": "ends without a reply and without asking the model",
    "unanswered": "the model's answer does not become its reply",
}
