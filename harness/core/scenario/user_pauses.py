"""How long a user takes for the next message, where time costs nothing."""

from __future__ import annotations

from harness.core.history.past import Past
from harness.core.values.calls import Inbound
from harness.core.values.draws import Draws

PAUSE_MS = (1_000, 30_000)
"""The shortest and the longest pause of a user on virtual time between an answer and the next
message. Without it a clock in the system text, a time as a key and a deadline that runs on over
turns pass: time would stand still between messages."""


def user_pause_ms(past: Past, draws: Draws, inbound: Inbound) -> int:
    """How long the user takes for a message; the first one opens the run, and one that comes again
    after a kill has been written long since."""
    if not past.delivered or (inbound.session, inbound.id) in past.inbounds:
        return 0
    return draws.random("pause", str(past.calls["inbox"])).randint(*PAUSE_MS)
