"""A turn that a guard has ended: wrong agents that tell, store or repeat it wrongly."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import RowTranscript, SessionTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, ToolUse, results
from harness.stores.session_store import SessionRow
from tests.mutants import mutant


class HaltsAtOnce(Loop):
    """Stores results only if the whole batch was carried out."""

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run the calls until a guard ends the turn."""
        self.watch.begin_step()
        answered = []
        for place, call in enumerate(calls):
            answered.append(self.result_of(call, calls[:place]))
            if self.ended:
                return self.conclude(self.ended)
        self.transcript.append(results(*answered))
        return None


@mutant(
    breaks="turn",
    statement="A halt inside a batch leaves calls without results (seeds 110, 122)",
    scenario="repeated-errors/beside-a-call-that-runs",
    killed_by="role_alternation.store",
)
def halts_without_results(brief: Brief) -> None:
    """A halt leaves the batch at once: what had run before it has no result in the history.

    The reference agent that halts in the middle of a batch.
    """
    build(brief, turn=HaltsAtOnce).run()


class NoLastWord(RowTranscript):
    """Stores the reply of a turn that went well."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Keep the reply, unless the turn failed."""
        if outcome.status == "ok":
            super().close(inbound, outcome)


@mutant(
    breaks="transcript",
    statement="After unknown tools the turn ends without an assistant row (seed 115, hermes)",
    scenario="repeated-errors/no-such-tool",
    killed_by="reload_equivalence.lost_reply",
)
def no_last_word(brief: Brief) -> None:
    """A turn that is given up ends without an assistant row: the store ends with results.

    The reference agent that stores no reply of a failed turn.
    """
    build(brief, transcript=NoLastWord).run()


class NoMarker(RowTranscript):
    """Keeps what succeeded."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Keep a reply unless the turn failed."""
        if outcome.status != "failed":
            super().close(inbound, outcome)


@mutant(
    breaks="transcript",
    statement="The entries of an aborted turn are replayed in the next one (seeds 31, 32)",
    scenario="empty-inputs/next-message",
    killed_by="reload_equivalence.lost_reply",
)
def aborted_turn_is_replayed(brief: Brief) -> None:
    """A turn that was aborted leaves no reply in the history, so the next turn begins it again.

    The reference agent that forgets how a turn failed.
    """
    build(brief, transcript=NoMarker).run()


class KeepsTheCall(RowTranscript):
    """Writes results when the model has gone on from them."""

    def append(self, message: Message) -> None:
        """Put results off until the next answer."""
        if message.tool_results:
            self._rows.append(SessionRow("", message))
            return
        self._write_results()
        super().append(message)

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Keep the reply; results that still wait belong to an attempt that failed."""
        if outcome.status != "failed":
            self._write_results()
        super().close(inbound, outcome)

    def _write_results(self) -> None:
        last = self._rows[-1]
        if not last.id and last.message.tool_results:
            self._rows.pop()
            super().append(last.message)


@mutant(
    breaks="transcript",
    statement="A partial turn is kept without the results of its calls (seeds 29)",
    scenario="empty-inputs",
    killed_by="role_alternation.store",
)
def trip_leaves_calls_open(brief: Brief) -> None:
    """A trip keeps the last call and drops its result: the store holds a call without a result.

    The reference agent that stores results late.
    """
    build(brief, transcript=KeepsTheCall).run()


class RollsBack(RowTranscript):
    """Takes rows out of the store."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Roll a failed turn back to its inbound message, then keep the reply."""
        if outcome.status == "failed":
            rows = self._store.rows(self._session)
            last = max(n for n, row in enumerate(rows) if row.inbound == inbound.id)
            with self._store._writing() as db:  # type: ignore[attr-defined]
                for row in rows[last + 1 :]:
                    db.execute("DELETE FROM rows WHERE id=?", (row.id,))
        super().close(inbound, outcome)


@mutant(
    breaks="transcript",
    statement="A trip leaves the list before the attempt and a marker (seeds 28, before #12918)",
    scenario="empty-inputs",
    killed_by="reload_equivalence.gone",
)
def trip_rolls_rows_back(brief: Brief) -> None:
    """When the breaker trips, its rows are taken back, and the user loses what was done.

    The reference agent that rolls back.
    """
    build(brief, transcript=RollsBack).run()


class TriesAgain(Gateway):
    """Gives a turn that failed one more attempt."""

    def turn(self, inbound: Inbound, transcript: SessionTranscript) -> None:
        """Work on a message, twice if need be."""
        outcome = self.loop_for(inbound, transcript).run()
        if outcome.status == "failed":
            outcome = self.loop_for(inbound, transcript).run()
        self.settle(inbound, transcript, outcome)


@mutant(
    breaks="gateway",
    statement="A trip is taken for an error that another attempt may cure (seeds 27)",
    scenario="identical-failures/asked-again",
    killed_by="no_progress_stop.same_failure",
)
def trip_is_retried(brief: Brief) -> None:
    """A turn that the breaker ended is begun again, with counters at zero.

    The reference agent that retries what was stopped.
    """
    build(brief, gateway=TriesAgain).run()


class TwoHandlers(Gateway):
    """Tells of a failure where it is noticed, and where the turn ends."""

    def settle(self, inbound: Inbound, transcript: object, outcome: Outcome) -> None:
        """Send a failure ahead."""
        if outcome.status == "failed":
            self.brief.send(outcome.text, "error", inbound.session, inbound.id, status="failed")
        super().settle(inbound, transcript, outcome)  # type: ignore[arg-type]


@mutant(
    breaks="gateway",
    statement="A stale marker stays beside the final one (seeds 26, 30)",
    scenario="empty-inputs",
    killed_by="outbound_once.twice",
)
def trip_is_told_twice(brief: Brief) -> None:
    """The breaker's error is sent by the inner handler, and by the outer one again.

    The reference agent with two handlers of one failure.
    """
    build(brief, gateway=TwoHandlers).run()
