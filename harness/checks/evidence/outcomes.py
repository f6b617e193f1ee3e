"""How a turn came out: by the status of its final, and by the model's last answer before it.

The agent's word is the status of its final message. What the answer was worth is told by
`model_answers`; `truthfulness` compares the two.
"""

from __future__ import annotations

import msgspec

from harness.core.history.exchanges import Sending
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

TELLING = frozenset({"final", "error", "notice"})
"""The outbox kinds by which a user is told how a turn goes."""

_WORST: tuple[OutcomeWord, ...] = ("limit", "none", "failed_truthfully", "cancelled", "completed")


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


def expected(history: History) -> Expect:
    """The scenario's expectation, as it stands in the start of the run."""
    return msgspec.convert(history.trace.settings.get("expect") or {}, type=Expect)


def is_taken(sending: Sending) -> bool:
    """Whether the outbox took what the agent said."""
    return sending.answered is not None and sending.answered.complete
