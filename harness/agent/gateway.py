"""Between the user and the loop: each message is taken in once, answered once, and never lost.

The order is the whole point. The message is stored, and its id with it, before anything else is
done; a fresh loop works on the history as the store has it; the reply is stored before it is sent;
that it was sent is stored last. After a kill, whatever is missing is made up for in that order, and
a turn that was begun twice without an end is parked, not tried for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from harness.agent import outcome as ends
from harness.agent.damage import Damage
from harness.agent.loop import Loop
from harness.agent.outcome import Outcome
from harness.agent.text import clean
from harness.agent.transcript import Transcript
from harness.core.brief import Brief
from harness.core.calls import Inbound
from harness.stores.rows import Pending, SessionStore

OpenTranscript: TypeAlias = Callable[[str], Transcript]
NewLoop: TypeAlias = Callable[[Inbound, Transcript], Loop]


class Gateway:
    """Serves the inbox of a brief until it ends."""

    def __init__(
        self,
        brief: Brief,
        store: SessionStore,
        transcript_of: OpenTranscript,
        loop_for: NewLoop,
        max_attempts: int,
    ) -> None:
        self.brief, self.store = brief, store
        self.transcript_of, self.loop_for = transcript_of, loop_for
        self.max_attempts = max_attempts
        self.damage = Damage()

    def run(self) -> None:
        """Finish what was left undone, then take messages until there are no more.

        A cancel or a disconnect between turns has nothing to stop.
        """
        for pending in self.store.pending():
            self.recover(pending)
        for inbound in self.brief.inbox():
            if inbound.kind == "message":
                self.receive(inbound)

    def receive(self, inbound: Inbound) -> None:
        """Take a message in and answer it; one that is known already is left alone."""
        if not clean(inbound.text).strip():
            return self.send(inbound, ends.failed(ends.BLANK))
        transcript = self.transcript_of(inbound.session)
        try:
            admitted = transcript.open(inbound)
        except Exception as error:
            return self.send(inbound, ends.unstored("Your message", error))
        if not admitted:
            return None
        self.report(inbound, transcript)
        return self.turn(inbound, transcript)

    def recover(self, pending: Pending) -> None:
        """Go on where a former run of this agent ended."""
        inbound = pending.inbound
        if pending.reply is not None:
            return self.deliver(inbound, ends.restored(pending.reply, pending.status, pending.kind))
        transcript = self.transcript_of(inbound.session)
        if transcript.resume(inbound) > self.max_attempts:
            return self.settle(inbound, transcript, ends.failed(ends.PARKED, "parked"))
        self.report(inbound, transcript)
        return self.turn(inbound, transcript)

    def report(self, inbound: Inbound, transcript: Transcript) -> None:
        """Say what of the stored history is damaged, once."""
        news = self.damage.news(inbound.session, transcript.messages, self.store.notes)
        if news:
            self.brief.send(news, "notice", inbound.session, inbound.id)

    def turn(self, inbound: Inbound, transcript: Transcript) -> None:
        """Work on one message. A turn that breaks is answered too, and says that it broke."""
        try:
            outcome = self.loop_for(inbound, transcript).run()
        except Exception as error:
            outcome = ends.broke(error)
        self.settle(inbound, transcript, outcome)

    def settle(self, inbound: Inbound, transcript: Transcript, outcome: Outcome) -> None:
        """Store the reply, then deliver it."""
        try:
            transcript.close(inbound, outcome)
        except Exception as error:
            return self.send(inbound, ends.unstored("The reply", error))
        return self.deliver(inbound, outcome)

    def deliver(self, inbound: Inbound, outcome: Outcome) -> None:
        """Send a stored reply and note that it has left."""
        self.send(inbound, outcome)
        self.store.delivered(inbound)

    def send(self, inbound: Inbound, outcome: Outcome) -> None:
        """Say how a turn ended."""
        self.brief.send(
            outcome.text, outcome.kind, inbound.session, inbound.id, status=outcome.status
        )
