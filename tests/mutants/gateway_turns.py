"""The turns of the gateway: wrong agents that do not begin, end or tell one as they should."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.gateway import Gateway
from harness.agent.sessions import turn_outcome as ends
from harness.agent.sessions.transcript import SessionTranscript
from harness.agent.sessions.turn_outcome import PARKED, Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import mutant
from tests.mutants.changed_messages import ChangedMessages

HOURS_MS = 4 * 3_600_000


class OneDeadline(Gateway):
    """Has one deadline for all turns."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.begun_ms = self.brief.clock.now_ms()

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on a message while the deadline has not passed."""
        if self.brief.clock.now_ms() - self.begun_ms < HOURS_MS:
            return super().turn(inbound, transcript)
        late = ends.failed("The time for this turn is over.", "limit")
        return self.settle(inbound, transcript, late)


@mutant(
    breaks="gateway",
    statement="After four hours each message is refused before the model is asked (unseen, A)",
    scenario="each-turn-counts-by-itself",
    killed_by="no_false_stop.unasked",
)
def counts_from_the_start_of_the_process(brief: Brief) -> None:
    """The deadline of a turn is counted from the start of the process.

    The reference agent with the deadline of its process.
    """
    build(brief, gateway=OneDeadline).run()


class OnePlace(Gateway):
    """Keeps the newest message that came meanwhile."""

    def run(self) -> None:
        """Take what there is, and answer the first and the last."""
        first, *meanwhile = self.brief.inbox()
        for inbound in (first, *meanwhile[-1:]):
            self.receive(inbound)


@mutant(
    breaks="gateway",
    statement="Messages that come in a burst are dropped (item: queued in order)",
    scenario="busy",
    killed_by="inbound_exactly_once.lost",
)
def drops_while_busy(brief: Brief) -> None:
    """The queue of a busy session has one place: the last message wins.

    The reference agent with a queue of one.
    """
    build(brief, gateway=OnePlace).run()


class Escaped(ChangedMessages):
    """Escapes markup at the wrong place."""

    def changed(self, text: str) -> str:
        """The text as a page would hold it."""
        return escape(text)


@mutant(
    breaks="gateway",
    statement="The user's words are changed before the model reads them",
    scenario="pasted-into-the-chat/a-line-of-json",
    killed_by="inbound_exactly_once.changed",
)
def escapes_the_users_text(brief: Brief) -> None:
    """The user's text is escaped for a page, and the model reads the escapes.

    The reference agent that escapes what comes in.
    """
    build(brief, gateway=Escaped).run()


class Forgetting(Gateway):
    """Stores answers only."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store and deliver an answer; an error is only delivered."""
        if outcome.kind == "error":
            return self.deliver(inbound, outcome)
        return super().settle(inbound, transcript, outcome)


@mutant(
    breaks="gateway",
    statement="A bad ending leaves an unanswered user row (seed 148)",
    scenario="bad-endings",
    killed_by="turn_closed.question",
)
def failure_leaves_no_row(brief: Brief) -> None:
    """A turn that fails tells the user, and stores nothing.

    The reference agent whose failures leave no row.
    """
    build(brief, gateway=Forgetting).run()


class Resentful(Gateway):
    """Does not clear its error."""

    failed = False

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Answer with the worst status so far."""
        self.failed |= outcome.status == "failed"
        if self.failed:
            outcome = msgspec.structs.replace(outcome, status="failed", kind="error")
        super().settle(inbound, transcript, outcome)


@mutant(
    breaks="gateway",
    statement="A healthy model is on a cool-down long after the fault (incidents 182, 185)",
    scenario="stuck-for-good/key-refused+stream",
    killed_by="session_heals.unanswered",
)
def failure_sticks(brief: Brief) -> None:
    """The failure of one turn is reported with the answers of the next ones.

    The reference agent that never forgives.
    """
    build(brief, gateway=Resentful).run()


class HastyGateway(Gateway):
    """Reads once."""

    def catch_up(self) -> None:
        """Read, or end."""
        if self.recovery_due:
            left, self.recovery_due = self.store.pending(), False
            for pending in left:
                self.recover(pending)


@mutant(
    breaks="gateway",
    statement="One failed read at the start ends the agent (incident 169; faults P20)",
    scenario="failing-store/not-readable-at-the-start",
    killed_by="target.crashed",
)
def gives_up_an_unreadable_store(brief: Brief) -> None:
    """What a former run left undone is looked for once, at the start, and a failure there is fatal.

    The reference agent without patience at its start.
    """
    build(brief, store=brief.store, gateway=HastyGateway).run()


class OneLine(ChangedMessages):
    """Joins lines by a blank."""

    def changed(self, text: str) -> str:
        """The words of a text on one line."""
        return " ".join(text.split())


@mutant(
    breaks="gateway",
    statement="White space that carries meaning is lost in the user's text",
    scenario="each-turn-counts-by-itself",
    killed_by="inbound_exactly_once.white_space",
)
def joins_the_users_lines(brief: Brief) -> None:
    """The lines of a message become one line, and so do those of code and lists in it.

    The reference agent that takes messages as one line.
    """
    build(brief, gateway=OneLine).run()


class TellsLate(Gateway):
    """Puts the results of a cancelled turn before the next message of the session."""

    late: tuple[str, ...] = ()

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Keep the results of a turn that was cancelled."""
        if outcome.status == "cancelled":
            results = (r for m in transcript.messages for r in m.tool_results)
            self.late = tuple(result.text for result in results)
        super().settle(inbound, transcript, outcome)

    def receive(self, inbound: Inbound) -> None:
        """Work on a message, with what came late before it."""
        text = "\n".join([*self.late, inbound.text])
        self.late = ()
        super().receive(msgspec.structs.replace(inbound, text=text))


@mutant(
    breaks="gateway",
    statement="A late result of a cancelled turn enters the next turn (unseen, A)",
    scenario="cancel/between-tools",
    killed_by="turn_closed.result",
)
def late_result_of_a_cancelled_turn(brief: Brief) -> None:
    """A cancelled turn's results are kept, and told with the next message as if the user said them.

    The reference agent that tells late results with the next message.
    """
    build(brief, gateway=TellsLate).run()


class Discreet(Gateway):
    """Does not say what it has given up."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send what was worked on."""
        return outcome.text.startswith(PARKED) or super().send(inbound, outcome)


@mutant(
    breaks="gateway",
    statement="A message that was given up is lost for its user (incidents 149, 150)",
    scenario="killed-again",
    killed_by="resume_bounded.parked",
)
def parks_without_a_word(brief: Brief) -> None:
    """A turn that was interrupted twice is set aside, and the user is not told.

    The reference agent that parks in silence.
    """
    build(brief, gateway=Discreet).run()


class Quiet(Gateway):
    """Says nothing of what broke off."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send what is good news."""
        return "answer_broke_off" in outcome.text or super().send(inbound, outcome)


@mutant(
    breaks="gateway",
    statement="An error in a stream reaches neither a retry nor the user (BerriAI/litellm#6532)",
    scenario="answer-breaks-off/never-whole+stream",
    killed_by="stream_error_handled.silent",
)
def silent_after_a_broken_stream(brief: Brief) -> None:
    """An answer broke off, also when it is requested again, and the user gets no reply.

    The reference agent that does not say so.
    """
    build(brief, gateway=Quiet).run()


class Silent(Gateway):
    """Takes every known message for one that it has answered itself."""

    def skip_known(self, inbound: Inbound) -> None:
        """Nothing."""


@mutant(
    breaks="gateway",
    statement="The second of two agents on a session does not say that it does nothing",
    scenario="message-taken-by-another",
    killed_by="outbound_once.taken",
)
def silent_when_taken(brief: Brief) -> None:
    """A message that another agent of the session has taken first is dropped silently.

    The reference agent that says nothing of a message that is another's.
    """
    build(brief, gateway=Silent).run()


class Stuck(Gateway):
    """Never forgets a failure."""

    stuck = False

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on a message, unless one has failed before."""
        if self.stuck:
            return self.settle(inbound, transcript, ends.failed("The agent is stuck."))
        return super().turn(inbound, transcript)

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Note a failure, and answer."""
        self.stuck |= outcome.status == "failed"
        super().settle(inbound, transcript, outcome)


@mutant(
    breaks="gateway",
    statement='After "stuck in a loop" nothing works any more (OpenHands/OpenHands#5480)',
    scenario="stuck-for-good+stream",
    killed_by="session_heals.unasked",
)
def stuck_for_good(brief: Brief) -> None:
    """A turn that failed ends the conversation: every later message is answered with the failure.

    The reference agent whose state outlives its turn.
    """
    build(brief, gateway=Stuck).run()


class TwoExits(Gateway):
    """Flushes where the turn ends, and where it is settled."""

    def settle(self, inbound: Inbound, transcript: SessionTranscript, outcome: Outcome) -> None:
        """Store the reply, then do all that belongs to the end of a turn."""
        transcript.close(inbound, outcome)
        super().settle(inbound, transcript, outcome)


@mutant(
    breaks="gateway",
    statement="Several exit points store the reply twice (seed 144)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.duplicate",
)
def two_exit_points(brief: Brief) -> None:
    """Two ways out of a turn flush the same row.

    The reference agent that stores every reply twice.
    """
    build(brief, gateway=TwoExits).run()


class Interleaving(Gateway):
    """Takes in all there is, and gives every turn a step in turn."""

    def run(self) -> None:
        """Open all turns, then step them until each has ended."""
        turns: list[tuple[Inbound, SessionTranscript, Loop]] = []
        for inbound in self.brief.inbox():
            transcript = self.transcript_of(inbound.session)
            if transcript.open(inbound):
                turns.append((inbound, transcript, self.loop_for(inbound, transcript)))
        while turns:
            ended = [(turn, turn[2].step()) for turn in turns]
            turns = [turn for turn, outcome in ended if outcome is None]
            for (inbound, transcript, _), outcome in ended:
                if outcome is not None:
                    self.settle(inbound, transcript, outcome)


@mutant(
    breaks="gateway",
    statement="Two turns at once mix their rows (seed 159, hermes #64934)",
    scenario="busy",
    killed_by="turn_serial",
)
def two_turns_at_once(brief: Brief) -> None:
    """Messages that are there are worked on at the same time, step by step.

    The reference agent with several turns at once.
    """
    build(brief, gateway=Interleaving).run()


class Wedged(Gateway):
    """Does not know how to go on after an error."""

    def send(self, inbound: Inbound, outcome: Outcome) -> bool:
        """Send what was reached without an error."""
        rows = self.store.load(inbound.session)
        failed = any(result.is_error for row in rows for result in row.message.tool_results)
        return failed or super().send(inbound, outcome)


@mutant(
    breaks="gateway",
    statement="In 40 of 68 failures a tool's error was the last line, and no reply came (132)",
    scenario="silence-after-a-failed-tool",
    killed_by="outbound_once.missing",
)
def wedged_after_a_failed_tool(brief: Brief) -> None:
    """A tool fails, and the turn never ends. The reference agent that is silent then."""
    build(brief, gateway=Wedged).run()
