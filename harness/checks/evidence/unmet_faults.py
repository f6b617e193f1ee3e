"""What a run had where a fault found nothing to bend, or an expectation is not met.

A fault that never fired is a mistake of the test more often than of the agent. It waits for a
later call, for a stream where the client asks for plain answers, or for a tool that is not called.
The finding says what came, so that a reader sees which.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

from harness.checks.evidence.turn_outcomes import claimed
from harness.core.history.exchanges import Exchange
from harness.core.history.trace import Trace
from harness.core.values.plans import Sent

_NAMES_MOST = 3


def what_came(trace: Trace, fault: str) -> str:
    """What the layer of a fault had in this run, as the end of a sentence; "" for no fault, and
    where the history cannot tell."""
    layers = {"sse": _streams, "tools": _tools}
    layers |= dict.fromkeys(("http", "transport", "model"), _answers)
    tell = layers.get(fault.partition(".")[0])
    return f"; {tell(trace)}" if tell else ""


def _answers(trace: Trace) -> str:
    """The answers of the model, and how many of them call a tool."""
    answers = [exchange for exchange in trace.exchanges if exchange.answered is not None]
    if not answers:
        return "the model was not asked"
    calls = sum(bool(one.reply and one.reply.tool_uses) for one in answers)
    return f"the model gave {_number(len(answers), 'answer')}, {calls} of them with a call"


def _streams(trace: Trace) -> str:
    """The streams: how many, the parts of the longest, and the longest text in them."""
    answers = [exchange for exchange in trace.exchanges if exchange.answered is not None]
    streams = [exchange for exchange in answers if exchange.request.stream]
    if not answers:
        return "the model was not asked"
    if not streams:
        return f"no request asked for a stream, and {_number(len(answers), 'answer')} came plain"
    longest = max(streams, key=_parts)
    text = len(longest.reply.text) if longest.reply else 0
    of = f"the longest of {len(streams)} streams" if len(streams) > 1 else "the stream"
    return (
        f"{of} had {_number(_parts(longest), 'event')}, with {_number(text, 'character')} of text"
    )


def _parts(exchange: Exchange) -> int:
    """How many events a stream sent: the server sends each by itself."""
    steps = exchange.answered.steps if exchange.answered else ()
    return sum(step.count for step in steps if isinstance(step, Sent))


def _tools(trace: Trace) -> str:
    """The calls that crossed the tool seam, by name; else those that the model made."""
    ran = Counter(run.request.name for run in trace.executions)
    if not ran:
        asked = _number(len(trace.asks), "call")
        return f"no tool of the scenario ran; the model made {asked}"
    named = [f"{name} {times} times" for name, times in ran.most_common(_NAMES_MOST)]
    more = [f"{len(ran) - _NAMES_MOST} others"] if len(ran) > _NAMES_MOST else []
    return f"the tools that ran: {', '.join([*named, *more])}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def first_unrun(trace: Trace, name: str) -> str:
    """The first call of a tool that the model made and that never ran, and the request that asks
    for it again, in words."""
    asks = (ask for turn in trace.turns.values() for ask in turn.asks if ask.use.name == name)
    made = next((ask.exchange for ask in asks if ask.execution is None), None)
    if made is None:
        return ""
    session = made.called.session
    later = (e for e in trace.exchanges if e.n > made.n and e.called.session == session)
    again = next((e for e in islice(later, 1) if e.whole == made.whole), None)
    asked = f", and {again.called.key} asks the same again" if again else ""
    return f"the call of {name} in {made.called.key} never runs{asked}: "


def given_up(trace: Trace) -> str:
    """The request that failed in passing, and whose turn ended without another try, in words."""
    for turn in trace.turns.values():
        *earlier, last = turn.main or (None,)
        if (
            last is None
            or not last.transient
            or any(claimed(e) == "completed" for e in turn.endings)
        ):
            continue
        if turn.endings and all(e is None or e.content != last.content for e in earlier):
            return f"{last.called.key} failed in passing, and is not tried again: "
    return ""


def unoffered(trace: Trace) -> str:
    """Which tools of the run no request offers, in words: the model calls no other ones."""
    offered, tools = trace.offered, trace.settings.get("tools", {})
    lacks = [name for name in tools if not any(other.endswith(name) for other in offered)]
    return f"; no request offers {' or '.join(lacks)}" if lacks and offered else ""


def all_stopped(trace: Trace) -> bool:
    """Whether the user stopped each turn before its first request, and the agent says so."""
    turns = trace.turns.values()
    told = (t.cancelled_n and any(claimed(s) == "cancelled" for s in t.endings) for t in turns)
    return bool(turns) and all(told)
