"""Messages and replies that come twice: wrong agents that answer, store or send them again."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from harness.agent import build
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import side
from tests.mutants import mutant
from tests.mutants.changed_replies import ChangedReplies
from tests.stores import wrong_parts


class _Noting(Gateway):
    def deliver(self, inbound: Inbound, outcome: Outcome) -> None:
        super().deliver(inbound, outcome)
        if self.unnoted_deliveries:
            self.unnoted_deliveries.clear()
            transcript = self.transcript_of(inbound.session)
            transcript.resume(inbound)
            self.turn(inbound, transcript)


def _right_notes_a_delivery_later(brief: Brief) -> None:
    """The agent that tries to note a delivery again, and not its turn."""
    build(brief, store=brief.store).run()


@mutant(
    breaks="gateway",
    statement="A turn is done again because its message could not be marked as done (issue 32)",
    scenario="failing-store/full-at-the-note-of-a-delivery",
    killed_by="outbound_once.twice",
    look_alike=_right_notes_a_delivery_later,
)
def begins_again_when_the_note_fails(brief: Brief) -> None:
    """The reply is out, the store refuses the note of it, and the whole turn comes again.

    The reference agent with one retry around the turn and its note.
    """
    build(brief, gateway=_Noting, store=brief.store).run()


class Remembering(Gateway):
    """Sends the last answer in place of an error."""

    _text = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the answer of the turn, or the one that it remembers."""
        if outcome.kind == "error" and self._text:
            outcome = msgspec.structs.replace(
                outcome, kind="final", status="completed", told=self._text
            )
        elif outcome.kind == "final":
            self._text = outcome.text
        return super().send(inbound, outcome)


@mutant(
    breaks="gateway",
    statement="After empty answers the user reads the answer before them (hermes-agent#92563)",
    scenario="reply-as-the-model-said-it/nothing-after-an-answer",
    killed_by="reply_carried.other",
)
def answers_from_memory(brief: Brief) -> None:
    """Where the model says nothing, the text of the last answer is still in the buffer.

    The reference agent that never empties its buffer.
    """
    build(brief, gateway=Remembering).run()


class Talkative(Gateway):
    """Does not know its own words."""

    max_echoes = 1_000


@mutant(
    breaks="gateway",
    statement="The agent answers its own replies in a self-chat (kirodotdev/KiroCrew#5246)",
    scenario="own-words-come-back",
    killed_by="answer_taken.own_words",
)
def answers_its_own_words(brief: Brief) -> None:
    """A channel brings the agent's own reply back, and the agent takes it for a message each time.

    The reference agent that answers itself.
    """
    build(brief, gateway=Talkative).run()


class NoMemory(Gateway):
    """Takes a message that comes again for a new one."""

    def receive(self, inbound: Inbound) -> None:
        """Give a known message another id."""
        again = msgspec.structs.replace(inbound, id=f"{inbound.id}-again")
        known = any(row.inbound == inbound.id for row in self.store.rows(inbound.session))
        super().receive(again if known else inbound)


@mutant(
    breaks="gateway",
    statement="A redelivered update runs a second full turn (incidents 139-142)",
    scenario="replay-spiral/redelivered",
    killed_by="inbound_exactly_once",
)
def answers_redelivery(brief: Brief) -> None:
    """An inbound message that comes again is answered again.

    The reference agent without a memory of ids.
    """
    build(brief, gateway=NoMemory).run()


class AsksAgain(Gateway):
    """Keeps the message of a failed turn for the next one."""

    failed = ""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send the end of a turn."""
        self.failed = inbound.text if outcome.kind == "error" else ""
        return super().send(inbound, outcome)

    def receive(self, inbound: Inbound) -> None:
        """Work on a message, and on the failed one before it."""
        text = "\n\n".join(filter(None, [self.failed, inbound.text]))
        super().receive(msgspec.structs.replace(inbound, text=text))


@mutant(
    breaks="gateway",
    statement="A failed question stays and is answered in a later turn (unseen, A)",
    scenario="bad-endings",
    killed_by="turn_closed.question",
)
def asks_a_failed_question_again(brief: Brief) -> None:
    """A message whose turn failed is put before the next one, so that the model answers both.

    The reference agent that asks a failed question again.
    """
    build(brief, gateway=AsksAgain).run()


class Cache(ChangedReplies):
    """Keeps replies by question, and not by session."""

    def changed(self, inbound: Inbound, outcome: Outcome) -> str:
        """The first reply to these words."""
        known: dict[str, str] = self.__dict__.setdefault("_known", {})
        return known.setdefault(inbound.text, outcome.text)


@mutant(
    breaks="gateway",
    statement="An equal question of another user is answered from the cache",
    scenario="reply-as-the-model-said-it/to-two-users",
    killed_by="reply_carried.session",
)
def caches_replies_for_all_users(brief: Brief) -> None:
    """Answers are cached by the words of the question alone.

    The reference agent with one cache for all sessions.
    """
    build(brief, gateway=Cache).run()


class AlwaysFine(Gateway):
    """Says `ok` after any outcome."""

    def send(self, inbound: Inbound, outcome: Outcome) -> None:
        """Report every end as a final answer."""
        self.brief.send(outcome.text, "final", inbound.session, inbound.id, status="ok")


@mutant(
    breaks="gateway",
    statement="Giving up ends as a benign answer (incidents 21, 178; opencode #48188)",
    scenario="prompt-too-long/all-attempts-fail",
    killed_by="truthful_outcome",
)
def claims_success(brief: Brief) -> None:
    """A turn that failed is reported as an ordinary answer.

    The reference agent with a gateway that hides failures.
    """
    build(brief, gateway=AlwaysFine).run()


class Unstored(Gateway):
    """Delivers first, and dies every time."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Deliver."""
        self.deliver(inbound, outcome)


@mutant(
    breaks="gateway",
    statement="Replies are delivered and not stored: the spiral (seed 162)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.lost_reply",
)
def delivered_not_stored(brief: Brief) -> None:
    """The reply is delivered, and its row is never written.

    The reference agent that stores no reply.
    """
    build(brief, gateway=Unstored).run()


@mutant(
    breaks="gateway",
    statement="A reply that may have arrived is sent again without a note (decision 0008)",
    scenario="restart-storm/between-reply-and-note",
    killed_by="outbound_once.unmarked",
)
def repeats_an_unsure_reply(brief: Brief) -> None:
    """After a kill, a reply that may have arrived is sent again as if it were new.

    The reference agent with a table of what is to be sent, and no note.
    """
    wrong_parts.says_it_again(brief)


class SendsAgain(Gateway):
    """Sends the newest stored answer at the first message after a start."""

    has_sent = False

    def receive(self, inbound: Inbound) -> None:
        """Send the newest answer of the session once, then work on the message."""
        rows = [] if self.has_sent else self.store.rows(inbound.session)
        said = [r.message.text for r in rows if side(r.message) == "assistant" and r.message.text]
        if said:
            self.brief.send(said[-1], "notice", inbound.session, inbound.id)
        self.has_sent = True
        super().receive(inbound)


@mutant(
    breaks="gateway",
    statement="Replies that the outbox took turns ago are sent again after a restart (unseen, A)",
    scenario="last-batch-after-a-crash",
    killed_by="turn_closed.reply",
)
def sends_old_answers_after_a_restart(brief: Brief) -> None:
    """After a restart, the next message is first met with the answer of the turn before.

    The reference agent that does not know what it has delivered.
    """
    build(brief, gateway=SendsAgain).run()


class ByIdAlone(Gateway):
    """Leaves the session out of the key of a message."""

    def receive(self, inbound: Inbound) -> None:
        """Skip each id that came before."""
        if inbound.id not in {known for _, known in self.own_messages}:
            super().receive(inbound)


@mutant(
    breaks="gateway",
    statement="The second chat's message 1 is taken for a copy of the first chat's (unseen, A)",
    scenario="chats-that-count-alike",
    killed_by="inbound_exactly_once.lost",
)
def knows_messages_by_id_alone(brief: Brief) -> None:
    """A message is known by its id, whichever chat it comes from.

    The reference agent that never answers the second chat's first message.
    """
    build(brief, gateway=ByIdAlone).run()


class CarelessGateway(Gateway):
    """Delivers whether it could store or not."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store the reply if that works, and deliver it."""
        with suppress(Exception):
            transcript.close(inbound, outcome)
        self.deliver(inbound, outcome)


@mutant(
    breaks="gateway",
    statement="A full disk is ignored, and the user told that all is done (faults P9)",
    scenario="failing-store/full-at-the-reply",
    killed_by="reload_equivalence.lost_reply",
)
def claims_what_is_not_stored(brief: Brief) -> None:
    """A reply that could not be stored is sent all the same, as if it had been.

    The reference agent that does not look at what the store says.
    """
    build(brief, gateway=CarelessGateway).run()


class Storing(Gateway):
    """Stores first, and looks then."""

    def receive(self, inbound: Inbound) -> None:
        """Store any message."""
        if not inbound.text.strip():
            self.transcript_of(inbound.session).open(inbound)
        super().receive(inbound)


@mutant(
    breaks="gateway",
    statement="A blank prompt is saved before it is refused (AutoGPT #12413, never changed)",
    scenario="overflow-lookalikes/blank",
    killed_by="reload_equivalence.blank",
)
def persists_blank(brief: Brief) -> None:
    """A message without text is refused, after it was stored.

    The reference agent that keeps blank messages.
    """
    build(brief, gateway=Storing).run()
