"""The gateway between user and loop: each message is stored once, answered once and never lost.

The order is: store the message and its id, run a new loop on the stored history, store the reply,
send it, record the delivery. A restart resumes at the first missing step. A turn that began twice
without an end is parked. A turn with later messages after it is not resumed.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from harness.agent.agent_loop import Loop
from harness.agent.conversation.content import clean
from harness.agent.conversation.projection import DamageReport
from harness.agent.outgoing import DELIVERY_WAITS_S, attempt, deliver
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import SessionTranscript, Unread
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.stores import Pending, SessionStore

_log = logging.getLogger(__name__)


class Gateway:
    """Serves the inbox of a brief until it ends."""

    max_echoes = 3
    """How many replies of its own in a row the agent answers. A user may quote one; a channel that
    brings them back never stops."""

    delivery_waits_s: Sequence[float] = DELIVERY_WAITS_S
    """The waits before a reply is sent again, one for each further attempt."""

    def __init__(
        self,
        brief: Brief,
        store: SessionStore,
        transcript_of: Callable[[str], SessionTranscript],
        loop_for: Callable[[Inbound, SessionTranscript], Loop],
        max_attempts: int,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.at_end = at_end
        self.brief, self.store = brief, store
        self.transcript_of, self.loop_for = transcript_of, loop_for
        self.max_attempts = max_attempts
        self.damage = DamageReport()
        self.recovery_due = True
        self.unnoted_deliveries: list[Inbound] = []
        self.own_messages: set[tuple[str, str]] = set()
        self.said: dict[str, str] = {}
        self.echoes = Counter[str]()

    def run(self) -> None:
        """Finish the open turns of an earlier run, then serve messages until there are no more."""
        self.catch_up()
        for inbound in self.brief.inbox():
            self.catch_up()
            self.receive(inbound)
        self.at_end()

    def catch_up(self) -> None:
        """Record deliveries that could not be recorded, and finish the open turns of an earlier
        run.

        If the store cannot list them, the agent asks it again at the next message. If it fails
        during a recovered turn, the user is told.
        """
        left: Sequence[Pending] = ()
        try:
            while self.unnoted_deliveries:
                self.store.delivered(self.unnoted_deliveries[0])
                self.unnoted_deliveries.pop(0)
            if self.recovery_due:
                left, self.recovery_due = self.store.pending(), False
        except Exception as error:
            _log.warning("the store failed, so open turns wait for the next message: %s", error)
        for pending in left:
            try:
                self.recover(pending)
            except Exception as error:
                self.send(pending.inbound, ends.unstored("The interrupted turn", error))

    def receive(self, inbound: Inbound) -> None:
        """Store a message and answer it; a known message is skipped."""
        inbound = msgspec.structs.replace(inbound, text=clean(inbound.text))
        if not inbound.text.strip():
            self.send(inbound, ends.failed(ends.BLANK))
            return None
        transcript = self.transcript_of(inbound.session)
        try:
            admitted = transcript.open(inbound)
        except Unread as error:
            return self.settle(inbound, transcript, ends.broke(error))
        except Exception as error:
            self.send(inbound, ends.unstored("Your message", error))
            return None
        if not admitted:
            return self.skip_known(inbound)
        self.own_messages.add((inbound.session, inbound.id))
        self.report(inbound, transcript)
        if self.is_echo(inbound):
            return self.settle(inbound, transcript, ends.failed(ends.ECHO, "own_words"))
        return self.turn(inbound, transcript)

    def is_echo(self, inbound: Inbound) -> bool:
        """Whether the agent's last replies came back as messages, more often than it answers."""
        session, said = inbound.session, self.said.get(inbound.session, "")
        came_back = inbound.text.strip() == clean(said).strip()
        self.echoes[session] = self.echoes[session] + 1 if came_back else 0
        return self.echoes[session] > self.max_echoes

    def skip_known(self, inbound: Inbound) -> None:
        """Skip a known message. If another process took it and has not answered yet, tell the user,
        because two agents on one session would do the work twice."""
        if self.recovery_due or (inbound.session, inbound.id) in self.own_messages:
            return
        open_ids = {(p.inbound.session, p.inbound.id) for p in self.unanswered()}
        if (inbound.session, inbound.id) in open_ids:
            self.send(inbound, ends.failed(ends.TAKEN, "taken"))

    def unanswered(self) -> list[Pending]:
        """The unanswered turns; empty if the store fails."""
        try:
            return [pending for pending in self.store.pending() if pending.reply is None]
        except Exception as error:
            _log.warning("the store failed, so the open turns are unknown: %s", error)
            return []

    def recover(self, pending: Pending) -> None:
        """Continue a turn where an earlier run of this agent ended."""
        inbound = pending.inbound
        self.own_messages.add((inbound.session, inbound.id))
        if pending.reply is not None:
            return self.deliver(inbound, ends.restored(pending.reply, pending.status, pending.kind))
        if self.is_overtaken(inbound):
            return self.deliver(inbound, ends.failed(ends.OVERTAKEN, "overtaken"))
        transcript = self.transcript_of(inbound.session)
        if transcript.resume(inbound) > self.max_attempts:
            return self.settle(inbound, transcript, ends.failed(ends.PARKED, "parked"))
        if not transcript.messages:  # a rename that was lost took the rows: nothing to ask about
            return self.settle(inbound, transcript, ends.failed(ends.LOST, "lost"))
        self.report(inbound, transcript)
        return self.turn(inbound, transcript)

    def is_overtaken(self, inbound: Inbound) -> bool:
        """Whether a later message of the session was stored before this turn could end. That
        happens if the store failed in this turn or at its resumption; the history continues with
        the later message."""
        taken = [row.inbound for row in self.store.rows(inbound.session) if row.inbound]
        return bool(taken) and taken[-1] != inbound.id

    def report(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Report the damage of the stored history, once."""
        news = self.damage.news(inbound.session, transcript.messages, self.store.notes)
        if news:
            attempt(lambda: self.brief.send(news, "notice", inbound.session, inbound.id))

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message. A turn that fails gets a reply too, which reports the failure."""
        try:
            outcome = self.loop_for(inbound, transcript).run()
        except Exception as error:
            outcome = ends.broke(error)
        self.settle(inbound, transcript, outcome)

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store the reply, then deliver it. It is the reply to the newest message of the turn: a
        restart that finds an earlier one without its reply knows that a later one came."""
        *earlier, newest = inbound, *transcript.joined
        outcome = msgspec.structs.replace(outcome, also=tuple(each.id for each in earlier))
        try:
            transcript.close(newest, outcome)
            for each in earlier:
                self.store.delivered(each)
        except Exception as error:
            unstored = ends.unstored("The reply", error)
            self.send(newest, msgspec.structs.replace(unstored, also=outcome.also))
        else:
            self.deliver(newest, outcome)

    def deliver(self, inbound: Inbound, outcome: Outcome) -> None:
        """Send a stored reply and record the delivery, at the latest with the next message. A reply
        that cannot be sent stays undelivered until the next start."""
        if not self.send(inbound, outcome):
            return
        try:
            self.store.delivered(inbound)
        except Exception as error:
            self.unnoted_deliveries.append(inbound)
            _log.warning("the delivery of %s could not be noted: %s", inbound.id, error)

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the end of a turn; return whether the outbox accepted it."""
        self.said[inbound.session] = outcome.text
        return deliver(self.brief, inbound, outcome, self.delivery_waits_s)
