"""Saying how a turn ended, through a channel that may fail.

The end of a turn is worth several tries, with growing pauses, or the pause that the channel asks
for. What was refused has not arrived, and is said again as it was. After a time-out or a broken
connection nobody knows, so the user is told that he may have it already. What cannot be delivered
at all stays in the store as not delivered, for the next start. News about a turn that goes on is
not worth a second try, and never its end.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from harness.agent.outcome import AGAIN, Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound

WAITS_S = (1.0, 5.0, 25.0)
LONGEST_S = 600.0

_log = logging.getLogger(__name__)
_ASKED = re.compile(r"retry[ -]after\D{0,3}(\d+)", re.IGNORECASE)


def deliver(brief: Brief, inbound: Inbound, outcome: Outcome) -> bool:
    """Say how the turn of a message ended; whether the channel has taken it."""
    text = outcome.text
    for wait_s in (*WAITS_S, None):
        try:
            brief.send(text, outcome.kind, inbound.session, inbound.id, status=outcome.status)
        except Exception as error:
            if wait_s is None:
                _log.warning("the reply to %s could not be delivered: %s", inbound.id, error)
                return False
            if _may_have_arrived(error) and not text.startswith(AGAIN):
                text = f"{AGAIN}\n\n{text}"
            brief.clock.sleep(max(wait_s, _asked_s(error)))
        else:
            return True
    return False


def attempt(say: Callable[[], None]) -> None:
    """Say something that is no end; a channel that fails does not break the turn."""
    try:
        say()
    except Exception as error:
        _log.warning("a notice could not be delivered: %s", error)


def _may_have_arrived(error: Exception) -> bool:
    """Whether nobody knows: the connection was there, and then no answer came."""
    broken = isinstance(error, TimeoutError | ConnectionError)
    return broken and not isinstance(error, ConnectionRefusedError)


def _asked_s(error: Exception) -> float:
    """The pause that the channel asks for, 0 when it asks for none."""
    found = _ASKED.search(str(error))
    return min(float(found.group(1)), LONGEST_S) if found else 0.0
