"""The gateway between user and loop: each message is taken in once, answered once, never lost.

The order is: store the message and its id, run a fresh loop on the stored history, store the reply,
send it, note the delivery. A restart resumes at the first missing step. A turn that began twice
without an end is parked. A turn that later messages have passed is not resumed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import msgspec

from harness.agent.agent_loop import Loop
from harness.agent.conversation.content import clean
from harness.agent.conversation.projection import DamageReport
from harness.agent.outgoing import attempt, deliver
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import SessionTranscript, Unread
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.stores import Pending, SessionStore

_log = logging.getLogger(__name__)


class Gateway:
    """Serves the inbox of a brief until it ends."""

    def __init__(
        self,
        brief: Brief,
        store: SessionStore,
        transcript_of: Callable[[str], SessionTranscript],
        loop_for: Callable[[Inbound, SessionTranscript], Loop],
        max_attempts: int,
    ) -> None:
        self.brief, self.store = brief, store
        self.transcript_of, self.loop_for = transcript_of, loop_for
        self.max_attempts = max_attempts
        self.damage = DamageReport()
        self.recovery_due = True
        self.unnoted_deliveries: list[Inbound] = []
        self.own_messages: set[tuple[str, str]] = set()

    def run(self) -> None:
        """Finish what was left undone, then take messages until there are no more."""
        self.catch_up()
        for inbound in self.brief.inbox():
            self.catch_up()
            self.receive(inbound)

    def catch_up(self) -> None:
        """Note deliveries that could not be noted, and finish what an earlier run left undone.

        A store that cannot say what that is, is asked again with the next message. When it fails in
        the middle of a recovered turn, the user is told.
        """
        left: Sequence[Pending] = ()
        try:
            while self.unnoted_deliveries:
                self.store.delivered(self.unnoted_deliveries[0])
                self.unnoted_deliveries.pop(0)
            if self.recovery_due:
                left, self.recovery_due = self.store.pending(), False
        except Exception as error:
            _log.warning("the store failed, so something is left undone for now: %s", error)
        for pending in left:
            try:
                self.recover(pending)
            except Exception as error:
                self.send(pending.inbound, ends.unstored("The interrupted turn", error))

    def receive(self, inbound: Inbound) -> None:
        """Take a message in and answer it; one that is known already is left alone."""
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
        return self.turn(inbound, transcript)

    def skip_known(self, inbound: Inbound) -> None:
        """Skip a known message. The user is told when another process has taken it and not answered
        yet: two agents on one session would do it twice."""
        if self.recovery_due or (inbound.session, inbound.id) in self.own_messages:
            return
        open_ids = {(p.inbound.session, p.inbound.id) for p in self.unanswered()}
        if (inbound.session, inbound.id) in open_ids:
            self.send(inbound, ends.failed(ends.TAKEN, "taken"))

    def unanswered(self) -> list[Pending]:
        """The turns that are not answered; none when the store does not say."""
        try:
            return [pending for pending in self.store.pending() if pending.reply is None]
        except Exception as error:
            _log.warning("the store failed, so nobody knows what is left undone: %s", error)
            return []

    def recover(self, pending: Pending) -> None:
        """Go on where a former run of this agent ended."""
        inbound = pending.inbound
        self.own_messages.add((inbound.session, inbound.id))
        if pending.reply is not None:
            return self.deliver(inbound, ends.restored(pending.reply, pending.status, pending.kind))
        if self.is_overtaken(inbound):
            return self.deliver(inbound, ends.failed(ends.OVERTAKEN, "overtaken"))
        transcript = self.transcript_of(inbound.session)
        if transcript.resume(inbound) > self.max_attempts:
            return self.settle(inbound, transcript, ends.failed(ends.PARKED, "parked"))
        self.report(inbound, transcript)
        return self.turn(inbound, transcript)

    def is_overtaken(self, inbound: Inbound) -> bool:
        """Whether a later message of the session was taken in, because the store failed in the turn
        of this one or when it was to be taken up; the history goes on behind it."""
        taken = [row.inbound for row in self.store.rows(inbound.session) if row.inbound]
        return bool(taken) and taken[-1] != inbound.id

    def report(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Say what of the stored history is damaged, once."""
        news = self.damage.news(inbound.session, transcript.messages, self.store.notes)
        if news:
            attempt(lambda: self.brief.send(news, "notice", inbound.session, inbound.id))

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on one message. A turn that breaks is answered too, and says that it broke."""
        try:
            outcome = self.loop_for(inbound, transcript).run()
        except Exception as error:
            outcome = ends.broke(error)
        self.settle(inbound, transcript, outcome)

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store the reply, then deliver it."""
        try:
            transcript.close(inbound, outcome)
        except Exception as error:
            self.send(inbound, ends.unstored("The reply", error))
        else:
            self.deliver(inbound, outcome)

    def deliver(self, inbound: Inbound, outcome: Outcome) -> None:
        """Send a stored reply and note the delivery, at the latest with the next message. A reply
        that cannot be sent stays undelivered for the next start."""
        if not self.send(inbound, outcome):
            return
        try:
            self.store.delivered(inbound)
        except Exception as error:
            self.unnoted_deliveries.append(inbound)
            _log.warning("the delivery of %s could not be noted: %s", inbound.id, error)

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Say how a turn ended; whether that was taken."""
        return deliver(self.brief, inbound, outcome)
