"""Cancels: what an agent does for a turn that the user has stopped."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.declarations import needs
from harness.checks.evidence.seen_cancels import is_after_cancel
from harness.core.history.exchanges import Exchange, Execution
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.verdict import Finding
from harness.core.values.visible_text import duration

_LONG_MS = 10_000
"""An agent may look for a stop every few seconds."""


@needs("inbox", "model", told_by="run", place=410)
def cancel_honoured(history: History) -> Iterator[Finding]:
    """Once the agent has seen a cancel, it does nothing more for that turn.

    `request`: it asks the model again. `tool`: it runs a tool. `outbound_once` judges its later
    messages to the user. `unseen`: a request or a tool begins ten seconds after the user stopped
    the turn. The agent looks for a stop only afterwards, as where a retry does not look.

    Not a finding: a stop that is pushed to the agent or that a reader takes. To fix it, look for a
    stop before each request and each tool. Source: invariant 21.
    """
    for turn in history.trace.turns.values():
        if turn.cancelled_n:
            yield from _went_on(history.trace, turn)
            yield from _did_not_look(turn)


def _went_on(trace: Trace, turn: Turn) -> Iterator[Finding]:
    for exchange in turn.exchanges:
        if is_after_cancel(trace, turn, exchange) and not exchange.called.sdk_retry:
            text = f"{turn.words} was cancelled, and {exchange.called.key} asks the model"
            yield Finding("cancel_honoured.request", text, (turn.cancelled_n, exchange.n))
            break
    for execution in turn.executions:
        if is_after_cancel(trace, turn, execution):
            runs = f"{execution.called.key} runs {execution.request.name}"
            text = f"{turn.words} was cancelled, and {runs}"
            yield Finding("cancel_honoured.tool", text, (turn.cancelled_n, execution.n))
            break


def _did_not_look(turn: Turn) -> Iterator[Finding]:
    """Yield the first call that began long after a stop, which the agent asked about later."""
    if turn.cancel_met_ms:
        return
    since = turn.cancel_came_ms
    calls: list[Exchange | Execution] = [*turn.exchanges, *turn.executions]
    for call in sorted(calls, key=lambda call: call.n):
        if call.n > turn.cancelled_n:
            return
        at_ms = call.called.at_ms
        if at_ms >= since + _LONG_MS and not call.called.sdk_retry:
            does = "asks the model" if isinstance(call, Exchange) else f"runs {call.request.name}"
            after = duration((at_ms - since) / 1000)
            text = f"{turn.words}: {call.called.key} {does} {after} after the user stopped the turn"
            events = (call.n, turn.cancelled_n)
            yield Finding("cancel_honoured.unseen", f"{text}, without a look for a stop", events)
            return
