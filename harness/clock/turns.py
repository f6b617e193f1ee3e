"""The order in which calls at the seams come, where threads or tasks make them at one moment.

Threads wait for each other in any run, so that the machine does not decide. Tasks of asyncio wait
only where the run names orders: without them, their loop has decided already.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.clock.event_loop import task_turn
from harness.clock.virtual_clock import Clock, VirtualClock

_ORDER = ("approval", "tool", "push", "model", "outbox", "inbox", "store")
"""The seams in the order in which threads call at one moment. What is pushed comes before the next
request, so that a message can reach the turn in which it comes."""


def take_turn(
    clock: Clock, seam: str, session: str, said: Callable[[], str], what: str = ""
) -> None:
    """Let the calls of threads come in an order that the machine does not decide.

    Calls of tools come first, in the order of the model's answer. So all of a batch have begun
    before what follows the first. `what` names the call at a point of choice.
    """
    if isinstance(clock, VirtualClock):
        label = _label(seam, session, what)
        clock.take_turn(lambda: f"{_ORDER.index(seam)}/{session}/{said()}", label)


async def turn_of_task(clock: Clock, seam: str, session: str = "", what: str = "") -> bool:
    """Wait in this task for the turn of its call; whether it had to."""
    if not isinstance(clock, VirtualClock):
        return False
    return await task_turn(clock, _label(seam, session, what))


def _label(seam: str, session: str, what: str) -> str:
    named = f"{seam} {what}" if what else seam
    return f"{named} of {session}" if session else named
