"""The messages to the user over a channel that may fail: the end of a turn, and notices.

The end is retried several times. A refused message has not arrived. After a timeout or a broken
connection it may have arrived, and the user is told so. A notice (partial text, compaction,
heartbeat) is sent once and not stored. Shown text cannot be taken back, so the loop does not repeat
a partly shown answer.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence

from harness.agent.context_overflow import Ask, Compacted, Compaction
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.sessions.turn_outcome import AGAIN, Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound, OutboundKind
from harness.core.values.messages import Message

DELIVERY_WAITS_S = (1.0, 5.0, 25.0)
CHANNEL_WAIT_MAX_S = 600.0

_log = logging.getLogger(__name__)
# A channel has no header: its error says in words how long to wait.
_ASKED = re.compile(r"retry[ -]after\D{0,3}(\d+)", re.IGNORECASE)

STARTED = "The conversation is long; I am making it shorter."
ENDED = "The conversation is shorter now."
KEPT = "The conversation could not be made shorter this way."
ALIVE = "Still working."


def deliver(
    brief: Brief,
    inbound: Inbound,
    outcome: Outcome,
    waits_s: Sequence[float] = DELIVERY_WAITS_S,
) -> bool:
    """Send the end of a message's turn; return whether the channel accepted it.

    A failed attempt is retried after each of the waits.
    """
    text, named = outcome.text, [*outcome.also, inbound.id] if outcome.also else inbound.id
    for wait_s in (*waits_s, None):
        try:
            brief.send(text, outcome.kind, inbound.session, named, status=outcome.status)
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
    """Send a notice; a channel that fails does not break the turn."""
    try:
        say()
    except Exception as error:
        _log.warning("a notice could not be delivered: %s", error)


def _may_have_arrived(error: Exception) -> bool:
    """Whether the connection existed before the answer failed to arrive."""
    broken = isinstance(error, TimeoutError | ConnectionError)
    return broken and not isinstance(error, ConnectionRefusedError)


def _asked_s(error: Exception) -> float:
    found = _ASKED.search(str(error))
    return min(float(found.group(1)), CHANNEL_WAIT_MAX_S) if found else 0.0


class Outbox:
    """The notices of one turn. A heartbeat is sent if nothing else was sent for `heartbeat_s`
    seconds; 0 means never."""

    def __init__(self, brief: Brief, inbound: Inbound, heartbeat_s: float = 0) -> None:
        self._brief, self._inbound = brief, inbound
        self._every_ms = int(heartbeat_s * 1000)
        self._said_ms = brief.clock.now_ms()

    def say(self, text: str, kind: OutboundKind, status: str | None = None) -> None:
        """Send a notice about the turn."""
        session, name = self._inbound.session, self._inbound.id
        attempt(lambda: self._brief.send(text, kind, session, name, status=status))
        self._said_ms = self._brief.clock.now_ms()

    def show(self, text: str) -> None:
        """Send a part of the answer."""
        self.say(text, "partial")

    def is_cancelled(self) -> bool:
        """Whether the user has cancelled the turn. The loop calls this often, so a heartbeat is
        sent here too."""
        if self._every_ms and self._brief.clock.now_ms() - self._said_ms >= self._every_ms:
            self.say(ALIVE, "heartbeat")
        return self._brief.cancelled(self._inbound.session)

    def announced(self, compaction: Compaction) -> Compaction:
        """The same compaction, with notices to the user at its beginning and its end. A compaction
        without a request to the model has no notice."""

        def compact(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted | None:
            asked: list[Query] = []

            def told(query: Query) -> ModelAnswer:
                if not asked:
                    self.say(STARTED, "compaction", "started")
                asked.append(query)
                return ask(query)

            compacted = compaction(messages, budget, told)
            if asked:
                words = (ENDED, "ended") if compacted else (KEPT, "failed")
                self.say(words[0], "compaction", words[1])
            return compacted

        return compact
