"""How a turn came out, by the agent's own word and by what really happened.

The agent's word is the status of its final message; the facts are the model's last answer before
it. `truthful_outcome` compares them, `outcome` is the word for a whole run.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.history.exchanges import Exchange, Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding, OutcomeWord

STATUSES: dict[str, OutcomeWord] = {
    "": "completed",
    "ok": "completed",
    "completed": "completed",
    "success": "completed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "limit": "limit",
}
"""Status words of a final; any other word claims no success: `failed_truthfully`."""

_WORST: tuple[OutcomeWord, ...] = ("limit", "none", "failed_truthfully", "cancelled", "completed")

_BAD_STOPS: dict[str | None, str] = {
    "refusal": "refused",
    "content_filter": "refused",
    "max_tokens": "truncated",
    "length": "truncated",
    "model_context_window_exceeded": "truncated",
    "incomplete": "truncated",
    None: "truncated",
    "tool_use": "unfinished",
    "tool_calls": "unfinished",
    "function_call": "unfinished",
    "pause_turn": "unfinished",
}


def claimed(sending: Sending) -> OutcomeWord:
    """The outcome that a final or an error claims."""
    word = STATUSES.get(sending.request.status, "failed_truthfully")
    if sending.request.kind == "error" and word == "completed":
        return "failed_truthfully"
    return word


def outcome(history: History) -> OutcomeWord:
    """The outcome of the run: the worst of its turns (limit, none, failed, cancelled, completed).

    A turn that met a limit of the harness is `limit`; one that was cancelled and says no more is
    `cancelled`; one that says nothing is `none`. A turn that a kill cut off counts as the one in
    which its message came again.
    """
    turns = history.trace.turns.values()
    last = {turn.delivery.inbound.id: turn for turn in turns if turn.delivery}
    words = {_of_turn(t) for t in turns if t.limits or (t.delivery and not _ignored(t, last))}
    return next((word for word in _WORST if word in words), "none")


def _ignored(turn: Turn, last: dict[str, Turn]) -> bool:
    """Whether the message had come before, and nothing was said to it again; or comes again, for
    nothing was said to it when the agent was killed."""
    assert turn.delivery is not None
    again = bool(turn.interrupted_n) and last[turn.delivery.inbound.id] is not turn
    return (turn.redelivery or again) and not turn.endings


def _of_turn(turn: Turn) -> OutcomeWord:
    if turn.limits:
        return "limit"
    if turn.endings:
        return claimed(turn.endings[-1])
    return "cancelled" if turn.cancelled_n else "none"


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


def wrong(exchange: Exchange) -> str:
    """What is wrong with an answer as the last one of a turn; "" when it ended in order."""
    a = exchange.answered
    if a is None or (a.status or 200) >= 400 or a.outcome == "timeout":
        return "failed"
    if not a.complete:
        return "failed" if not a.blocks else "incomplete"
    if a.outcome != "ok":
        return "failed"
    if _is_synthetic(exchange):
        return "synthetic"
    return _BAD_STOPS.get(a.stop, "")


def _is_synthetic(exchange: Exchange) -> bool:
    """Whether a wrapper wrote the answer itself: it counts no token, and says that it failed."""
    usage = exchange.answered.usage if exchange.answered else {}
    counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
    said = exchange.reply.text.strip().lower() if exchange.reply else ""
    return counts == [0, 0] and said.startswith(_ERRORS)


_ERRORS = ("prompt is too long", "api error")
"""How the messages of wrappers begin that stand for an error."""


def _exit_status(trace: Trace) -> Iterator[Finding]:
    ended = trace.ended
    main = [e for e in trace.exchanges if e.purpose == "main"]
    if ended is None or ended.exit_code != 0 or trace.sendings or not main:
        return
    if rule := wrong(main[-1]):
        text = f"exit status 0 and no word, but the last answer of the model is {rule}"
        yield Finding("truthful_outcome.exit_code", text, (main[-1].n, ended.n))
