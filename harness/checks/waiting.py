"""Whether an agent waits without end: for an answer, for a tool, or for nothing that anybody sees.

Time is that of the events. Between two events of a turn some time is explained: what an answer took
to say, as long as it said something; a pause that the provider asked for; a tool that is at work;
the sleep of the machine. What is left is silence. Sub-agents count with the turn that made them
(`families`), for whoever waits for one sees it work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from harness.checks.families import TurnName, children, root_turn
from harness.core.calls import OutboxRequest
from harness.core.events import Answered, Called, Started
from harness.core.exchanges import ENDINGS
from harness.core.history import History
from harness.core.ports import needs
from harness.core.verdict import Finding

_WAIT = re.compile(r"wait (\d+) ms")
_ASLEEP = re.compile(r"(\d+) ms monotonic")


class _Patience(NamedTuple):
    """The settings of the check, in milliseconds."""

    idle: float
    tool: float
    retry_after: float


class _Open(msgspec.Struct):
    """A turn that is worked on: its last event, and until when the time after it is explained."""

    event: Called | Answered
    until_ms: float


@needs("model")
def bounded_wait(
    history: History, *, idle_s: float = 180.0, tool_s: float = 1800.0, retry_after_s: float = 120.0
) -> Iterator[Finding]:
    """In an open turn something happens every three minutes, and every tool call comes to an end.

    A turn is open from its message until its end is first said. `answer`: more than `idle_s` seconds
    pass in which the model's answer says nothing; pings and comments keep a connection open and say
    nothing. `idle`: so long nothing happens, and no answer is due: the agent sleeps. `tool`: a tool
    is waited for longer than `tool_s`. `untold`: a tool did not answer in time, and a later request
    of the turn has no result of it. Not meant: an answer that streams for long and says something;
    a pause that an answer asks for with retry-after, up to `retry_after_s` (beyond it the user is to
    be told, and the turn ends); time asleep with the machine; the time before a message comes, and
    the delivery of a reply that was refused; a recording, of which nobody knows who was waited for.
    An agent mends it with a time-out for each tool and each read, a watchdog that counts what is said
    and not the bytes, and a cap on retry-after. Source: invariant 20; earendil-works/pi#8331.
    """
    trace = history.trace
    if trace.world == "recording":
        return
    most = _Patience(idle_s * 1000, tool_s * 1000, retry_after_s * 1000)
    family = children(trace)
    runs = {run.called.key: run for run in trace.executions}
    turns: dict[TurnName, _Open] = {}
    over: set[TurnName] = set()
    for event in trace.events:
        if isinstance(event, Started):
            turns.clear()
        elif isinstance(event, Called | Answered) and not _waits_for_the_user(event):
            name = root_turn(family, event)
            if name in turns and name not in over:
                yield from _waited(trace, turns[name], event, most, runs)
            explained_ms = turns[name].until_ms if name in turns else 0.0
            turns[name] = _Open(event, max(explained_ms, _explained_ms(event, most)))
            if isinstance(event.request if isinstance(event, Called) else None, OutboxRequest):
                over |= {name} if event.request.kind in ENDINGS else set()
    for name, still in turns.items():
        turn = trace.turns.get(name)
        if name not in over and turn is not None and (closed := _closed(trace, turn, still)):
            yield from _waited(trace, still, closed, most, runs)
