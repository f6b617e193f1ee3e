"""How a turn came out, by the agent's own word and by what really happened.

The agent's word is the status of its final message; the facts are the model's last answer before
it. `truthful_outcome` compares them, `outcome` is the word for a whole run.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.outcomes import (
    claimed,
    wrong,
)
from harness.core.history.exchanges import Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding


@needs("model", "outbox")
def truthful_outcome(history: History) -> Iterator[Finding]:
    """A turn that ends as a success was one: a whole answer of the model, ended in order.

    Findings: `empty` text, `no_answer` of the model, `limit` met, last answer `failed`,
    `incomplete`, `refused`, `truncated`, `unfinished` (it asked for a tool), or `synthetic` (an
    error in the clothes of an answer, for which no token was counted). `exit_code`: exit
    status 0 of a target that said nothing after a failed answer. Source: invariant 33.
    """
    trace = history.trace
    for turn in trace.turns.values():
        for sending in turn.sendings:
            if sending.request.kind == "final" and claimed(sending) == "completed":
                yield from _untrue(turn, sending)
    yield from _exit_status(trace)


def _untrue(turn: Turn, sending: Sending) -> Iterator[Finding]:
    limits = [a.n for a in turn.limits if a.n < sending.n]
    answered = [e for e in turn.main if e.answered and e.answered.n < sending.n]
    last = answered[-1] if answered else None
    events = (last.n, sending.n) if last else (sending.n,)
    if not sending.request.text.strip():
        yield _finding("empty", "the reply is empty", events)
    if limits:
        yield _finding("limit", "a limit was met in the turn", (limits[0], sending.n))
    elif last is None:
        yield _finding("no_answer", "the model answered nothing in the turn", events)
    elif rule := wrong(last):
        yield _finding(rule, f"the last answer of the model ({last.called.key}) is {rule}", events)


def _finding(rule: str, why: str, events: tuple[int, ...]) -> Finding:
    return Finding(f"truthful_outcome.{rule}", f"a turn ends as a success, but {why}", events)


def _exit_status(trace: Trace) -> Iterator[Finding]:
    ended = trace.ended
    main = [e for e in trace.exchanges if e.purpose == "main"]
    if ended is None or ended.exit_code != 0 or trace.sendings or not main:
        return
    if rule := wrong(main[-1]):
        text = f"exit status 0 and no word, but the last answer of the model is {rule}"
        yield Finding("truthful_outcome.exit_code", text, (main[-1].n, ended.n))
