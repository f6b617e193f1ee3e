"""What the user sees while a turn lasts: text as it comes, a compaction's begin and end, a sign of
life.

None of it ends the turn, and none of it is stored: the end is the gateway's to say, once, and only
what is stored counts. Text that was shown cannot be taken back, so the loop asks no second time for
an answer of which a part was shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent.compaction import Ask, Compacted, Compaction
from harness.agent.delivery import attempt
from harness.agent.model import Answer, Query
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound, OutboundKind
from harness.core.values.messages import Message

STARTED = "The conversation is long; I am making it shorter."
ENDED = "The conversation is shorter now."
KEPT = "The conversation could not be made shorter this way."
ALIVE = "Still working."


class Outbox:
    """The sendings of one turn that do not end it. A heartbeat comes when nothing else was said for
    `heartbeat_s`; 0 is never."""

    def __init__(self, brief: Brief, inbound: Inbound, heartbeat_s: float = 0) -> None:
        self._brief, self._inbound = brief, inbound
        self._every_ms = int(heartbeat_s * 1000)
        self._said_ms = brief.clock.now_ms()

    def say(self, text: str, kind: OutboundKind, status: str | None = None) -> None:
        """Say something about the turn."""
        session, name = self._inbound.session, self._inbound.id
        attempt(lambda: self._brief.send(text, kind, session, name, status=status))
        self._said_ms = self._brief.clock.now_ms()

    def show(self, text: str) -> None:
        """A part of the answer."""
        self.say(text, "partial")

    def is_cancelled(self) -> bool:
        """Whether the user has taken the turn back. The loop asks this at every turn of events, so
        it is the moment for a heartbeat too."""
        if self._every_ms and self._brief.clock.now_ms() - self._said_ms >= self._every_ms:
            self.say(ALIVE, "heartbeat")
        return self._brief.cancelled(self._inbound.session)

    def announced(self, compaction: Compaction) -> Compaction:
        """The same compaction, whose begin and end the user is told; one that does not even ask
        the model is not worth a word."""

        def compact(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted | None:
            asked: list[Query] = []

            def told(query: Query) -> Answer:
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
