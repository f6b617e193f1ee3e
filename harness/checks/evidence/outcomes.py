"""How a turn came out: by the status of its final, and by the model's last answer before it.

The agent's word is the status of its final message; the facts are the answer. `truthfulness`
compares the two, other checks ask for one of them.
"""

from __future__ import annotations

import msgspec

from harness.core.history.exchanges import Exchange, Sending
from harness.core.history.history import History
from harness.core.history.trace import Turn
from harness.core.scenario.scenario import Expect
from harness.core.values.verdict import OutcomeWord

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


def expected(history: History) -> Expect:
    """The scenario's expectation, as it stands in the start of the run."""
    return msgspec.convert(history.trace.settings.get("expect") or {}, type=Expect)
