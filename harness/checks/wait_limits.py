"""How long an agent waits: for an answer, for a tool, or while nothing happens.

Time is that of the events. Between two events of a turn some time is explained: what an answer took
to say, as long as it said something; a pause that the provider asked for; a tool at work; the sleep
of the machine. What is left is silence. Sub-agents count with the turn that made
them (`session_families`), for an agent that waits for one sees it work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.checks.declarations import excused_by, needs
from harness.checks.evidence.excuses import REDELIVERY, Case
from harness.checks.evidence.model_answers import asked_ms
from harness.checks.evidence.session_families import TurnName, children, root_turn
from harness.core.history.events import Answered, AnyEvent, Called, Started
from harness.core.history.exchanges import ENDINGS
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.calls import InboxRequest, OutboxRequest
from harness.core.values.plans import Jump, waited_ms
from harness.core.values.verdict import Finding


class _Patience(NamedTuple):
    """The settings of the check, in milliseconds."""

    idle: float
    tool: float
    retry_after: float


class _Open(NamedTuple):
    """A turn that is worked on: its last event, and until when the time after it is explained."""

    event: Called | Answered
    until_ms: float


@needs("model", told_by="run")
@excused_by(silence=(REDELIVERY,))
def bounded_wait(
    history: History, *, idle_s: float = 180.0, tool_s: float = 1800.0, retry_after_s: float = 120.0
) -> Iterator[Finding | Case]:
    """In an open turn something happens every three minutes, and every tool call comes to an end.

    A turn is open from its message until its end is first said. `answer`: for more than `idle_s`
    seconds the model's answer says nothing; pings and comments keep a connection open and say
    nothing. `idle`: so long nothing happens and no answer is due: the agent sleeps. `tool`: a tool
    is waited for longer than `tool_s`. That its outcome reaches the model is asked by
    `history_faithful`. Not meant: an answer that takes long and says something; a pause that an
    answer asks for with retry-after, up to `retry_after_s` (beyond it the turn is to end, and the
    user to be told); time asleep with the machine; the time before a message comes, and the
    delivery of a reply; a recording, of which nobody knows what was waited for. An agent mends it
    by a time-out for each read and each tool, a watchdog that counts what is said and not the
    bytes, and a cap on retry-after. Source: invariant 20; earendil-works/pi#8331.
    """
    trace = history.trace
    most = _Patience(idle_s * 1000, tool_s * 1000, retry_after_s * 1000)
    family = children(trace)
    turns: dict[TurnName, _Open] = {}
    over: set[TurnName] = set()
    for event in trace.events:
        if isinstance(event, Started):
            turns.clear()
        if not isinstance(event, Called | Answered) or _asks_for_more(event):
            continue
        name = root_turn(family, event)
        last = turns.get(name)
        if last is not None and name not in over:
            turn = trace.turns.get(name)
            for finding in _waited(last, event, most):
                yield Case("silence", [finding], turn) if turn else finding
        until_ms = _explained_until(event, most)
        turns[name] = _Open(event, max(until_ms, last.until_ms) if last else until_ms)
        if _says_the_end(event):
            over.add(name)
    for name, last in turns.items():
        closed = _closed(trace, name, last) if name not in over else None
        if closed is not None:
            yield from _waited(last, closed, most)


def _asks_for_more(event: Called | Answered) -> bool:
    """Whether the agent asks for the next message, which is a wait for the user."""
    return isinstance(event, Called) and event.request == InboxRequest()


def _says_the_end(event: Called | Answered) -> bool:
    request = event.request if isinstance(event, Called) else None
    return isinstance(request, OutboxRequest) and request.kind in ENDINGS


def _closed(trace: Trace, name: TurnName, last: _Open) -> AnyEvent | None:
    """What closes a turn whose end was never said; None where it goes on, or where nobody knows."""
    turn = trace.turns.get(name)
    if turn is None or turn.delivery is None or turn.settled_n <= last.event.n:
        return None
    return trace.events[turn.settled_n - 1]


def _waited(last: _Open, event: AnyEvent, most: _Patience) -> Iterator[Finding]:
    """The wait between the last event of a turn and the next, if it is too long."""
    before, gap_ms = last.event, event.at_ms - last.event.at_ms
    silent_ms, within_ms = event.at_ms - last.until_ms, _waits_ms(before)
    where = f"turn {before.turn} of {before.session}"
    if before.seam == "tool" and min(gap_ms, within_ms) > most.tool:
        rule, text = "tool", f"{before.key} is waited for {gap_ms / 1000:g} s"
    elif silent_ms > most.idle and before.seam == "model" and gap_ms <= within_ms + most.idle:
        rule, text = "answer", f"{before.key} says nothing for {silent_ms / 1000:g} s"
    elif silent_ms > most.idle:
        rule, text = "idle", f"nothing happens for {silent_ms / 1000:g} s"
    else:
        return
    yield Finding(f"bounded_wait.{rule}", f"{where}: {text}", (before.n, event.n))


def _explained_until(event: Called | Answered, most: _Patience) -> float:
    """Until when the time behind an event is explained by it.

    Of an answer, all waits but the longest silence: whoever gave up earlier has waited less.
    """
    if isinstance(event, Called):
        return event.at_ms
    within_ms = _waits_ms(event)
    match event.seam:
        case "tool":
            explained_ms = min(within_ms, most.tool)
        case "inbox":
            explained_ms = within_ms
        case "model":
            explained_ms = within_ms - event.silent_ms + _pause_ms(event, most)
        case _:
            explained_ms = 0.0
    return (
        event.at_ms
        + explained_ms
        + sum(step.monotonic_ms for step in event.steps if isinstance(step, Jump))
    )


def _pause_ms(answered: Answered, most: _Patience) -> float:
    """The pause that an answer asks for, if an agent is to grant it."""
    pause_ms = asked_ms(answered.retry_after)
    return pause_ms if pause_ms <= most.retry_after else 0.0


def _waits_ms(event: Called | Answered) -> int:
    """The waits within an answer."""
    return waited_ms(event.steps) if isinstance(event, Answered) else 0
