"""Where a transcript goes on: wrong agents that find another place in it."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.agent.conversation.content import clean
from harness.agent.conversation.projection import Projection
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, Text, results, user
from harness.stores.session_store import SessionRow, SessionStore
from tests.mutants import mutant


def repair(messages: list[Message]) -> list[Message]:
    """Merge neighbouring user rows with a blank line between, as the original did."""
    repaired: list[Message] = []
    for message in messages:
        if repaired and message.role == repaired[-1].role == "user":
            message = user(f"{repaired.pop().text}\n\n{message.text}")
        repaired.append(message)
    return repaired


class CursorTranscript(RowTranscript):
    """Writes `live[max(loaded, flushed):]` when the turn is over."""

    def open(self, inbound: Inbound) -> bool:
        """Load, add the message, flush it, and repair the live list."""
        loaded = [row.message for row in self._store.load(self._session)]
        if not self._admit(inbound):
            return False
        live = [*loaded, user(clean(inbound.text))]
        self._cursor = max(len(loaded), self._flushed(live))
        self._rows = [SessionRow("", message) for message in repair(live)]
        return True

    def _admit(self, inbound: Inbound) -> bool:
        return self._store.accept(inbound, user(clean(inbound.text)))

    def _flushed(self, live: list[Message]) -> int:
        return len(live)

    def append(self, message: Message) -> None:
        """Add a message to the live list."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Write what lies behind the cursor."""
        self.append(outcome.message)
        for row in self._rows[self._cursor :]:
            self._store.append(self._session, row.message)


@mutant(
    breaks="transcript",
    statement="Every reply is delivered and none is stored (hermes #43905, with the early flush)",
    scenario="replay-spiral",
    killed_by="reload_equivalence",
)
def positional_cursor(brief: Brief) -> None:
    """Repair of the canonical list, and a cursor that counts positions in it: replies are lost.

    The agent loads the history, flushes the inbound row early, and repairs the live list in place.
    At the end it writes the rows behind the cursor. Repair made the list shorter than the cursor.

    The reference agent with the positional cursor.
    """
    build(brief, transcript=CursorTranscript).run()


class LateCursorTranscript(CursorTranscript):
    """Nothing is flushed before the turn is over."""

    def _admit(self, inbound: Inbound) -> bool:
        return True

    def _flushed(self, live: list[Message]) -> int:
        return 0


@mutant(
    breaks="transcript",
    statement="Every inbound message is lost while roles alternate perfectly (seeds 132, 134)",
    scenario="replay-spiral/unanswered-tail",
    killed_by="inbound_exactly_once.lost",
)
def positional_cursor_late(brief: Brief) -> None:
    """The positional cursor without the early flush: inbound messages are lost, roles alternate.

    The reference agent with the positional cursor and no early flush.
    """
    build(brief, transcript=LateCursorTranscript).run()


class ClampedTranscript(CursorTranscript):
    """Never points behind the end of the list, and still skips what is new."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Clamp, then write what lies behind the cursor."""
        self._cursor = min(self._cursor, len(self._rows) + 1)
        super().close(inbound, outcome)


@mutant(
    breaks="transcript",
    statement="A clamp writes nothing when all new rows are skipped (seed 139, hermes #24326)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.lost_reply",
)
def cursor_clamped(brief: Brief) -> None:
    """The positional cursor, clamped to the length of the repaired list: the slice is empty.

    The reference agent with a clamped cursor.
    """
    build(brief, transcript=ClampedTranscript).run()


class FallingTranscript(CursorTranscript):
    """Begins at the start when the cursor lies behind the end."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Fall back, then write what lies behind the cursor."""
        if self._cursor > len(self._rows):
            self._cursor = 0
        super().close(inbound, outcome)


@mutant(
    breaks="transcript",
    statement="A fallback to last_flushed writes the history again (seed 140, hermes #24196)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.duplicate",
)
def cursor_falls_back(brief: Brief) -> None:
    """The positional cursor, which falls back to what a fresh agent has flushed: nothing.

    The reference agent whose cursor falls back.
    """
    build(brief, transcript=FallingTranscript).run()


class Counted(RowTranscript):
    """Knows how many rows there are, and not which."""

    def append(self, message: Message) -> None:
        """Store a message, and read back as many rows as there should be now."""
        super().append(message)
        self._rows = self.load()[-len(self._rows) :]


@mutant(
    breaks="transcript",
    statement="A row of a second process moves all others by one place (incident 146)",
    scenario="second-process-writes",
    killed_by="history_faithful",
)
def finds_rows_by_count(brief: Brief) -> None:
    """The live history is read back as the last N rows of the session, including foreign rows.

    The reference agent that counts its rows.
    """
    build(brief, transcript=Counted).run()


class Anew(RowTranscript):
    """Resumes from the last message of the user."""

    def resume(self, inbound: Inbound) -> int:
        """Load the interrupted turn up to its message."""
        attempts = super().resume(inbound)
        place = max(n for n, row in enumerate(self._rows) if row.inbound)
        self._rows = self._rows[: place + 1]
        return attempts


class Noted(RowTranscript):
    """Resumes behind a note of what was found, in place of the calls."""

    def resume(self, inbound: Inbound) -> int:
        """Load the interrupted turn, and tell in words what its calls have shown."""
        attempts = super().resume(inbound)
        found = [result.text for row in self._rows for result in row.message.tool_results]
        place = max(n for n, row in enumerate(self._rows) if row.inbound)
        asked = self._rows[place]
        known = Text(f"This is known already: {' '.join(found)}")
        message = Message("user", (*asked.message.blocks, known))
        self._rows = [*self._rows[:place], msgspec.structs.replace(asked, message=message)]
        return attempts


def _right_looks_up_again_after_a_kill(brief: Brief) -> None:
    """One that goes on behind a note of the results."""
    build(brief, transcript=Noted).run()


@mutant(
    breaks="transcript",
    statement="Completed work runs again after a resume (arXiv 2608.03836, prefix continuation)",
    scenario="read-and-forgotten",
    killed_by="resume_prefix.forgotten",
    look_alike=_right_looks_up_again_after_a_kill,
)
def looks_up_again_after_a_kill(brief: Brief) -> None:
    """After a kill the turn begins with its message, and what the model had read is not there.

    The reference agent that begins an interrupted turn from its message.
    """
    build(brief, transcript=Anew).run()


class Diligent(RowTranscript):
    """Finishes what was begun."""

    def __init__(
        self, tools: Toolbox, store: SessionStore, session: str, project: Projection
    ) -> None:
        super().__init__(store, session, project)
        self._tools = tools

    def resume(self, inbound: Inbound) -> int:
        """Run the calls that have no result."""
        attempts = self._store.begin(inbound)
        self._rows = self.load()
        if calls := self._rows[-1].message.tool_uses:
            self.append(results(*(self._tools.run(call) for call in calls)))
        return attempts


@mutant(
    breaks="transcript",
    statement="A resume runs the command that ended the agent (NousResearch/hermes-agent#49201)",
    scenario="restarts-itself",
    killed_by="resume_bounded.executed",
)
def runs_open_calls_again(brief: Brief) -> None:
    """A call that was under way at a kill is carried out again at the next start.

    The reference agent that runs open calls again.
    """
    build(brief, transcript=partial(Diligent, standard_tools(brief))).run()


class ScaffoldedTranscript(CursorTranscript):
    """Counts the hint that is said once as if it were a row that stays."""

    def wire(self, nudge: str = "") -> list[Message]:
        """The request; a hint moves the cursor, and is not in the list when the turn ends."""
        self._cursor += bool(nudge)
        return super().wire(nudge)


@mutant(
    breaks="transcript",
    statement="Scaffolding that is dropped makes the cursor overshoot (seed 147, hermes #31507)",
    scenario="bad-endings/blank-then-answered",
    killed_by="reload_equivalence.lost_reply",
)
def scaffolding_overshoots(brief: Brief) -> None:
    """A hint to the model is flushed over, then dropped: the cursor is one too far.

    The reference agent that flushes over its hints.
    """
    build(brief, transcript=ScaffoldedTranscript).run()


class CachedTranscript(CursorTranscript):
    """Adds what it flushed in earlier turns to what is loaded."""

    def __init__(self, flushed: list[int], *parts: Any) -> None:
        """Begin with what earlier turns have flushed."""
        super().__init__(*parts)
        self._before = flushed

    def open(self, inbound: Inbound) -> bool:
        """Load, and put the old cursor on top."""
        admitted = super().open(inbound)
        self._cursor += sum(self._before[-1:])
        return admitted

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Write, and remember how much."""
        super().close(inbound, outcome)
        self._before.append(len(self._rows))


@mutant(
    breaks="transcript",
    statement="The cursor of a cached agent skips the rows of the next turn (seed 146)",
    scenario="busy",
    killed_by="reload_equivalence.lost_reply",
)
def stale_cursor(brief: Brief) -> None:
    """An agent that is kept between turns keeps its cursor as well.

    The reference agent with a stale cursor.
    """
    build(brief, transcript=partial(CachedTranscript, [])).run()


class ReplacingTranscript(CursorTranscript):
    """Knows no cursor: what is live is what is stored."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Delete the session's rows and write the live list."""
        self.append(outcome.message)
        store: Any = self._store
        with store._writing() as db:
            db.execute("DELETE FROM rows WHERE session = ?", (self._session,))
        store.seed(self._session, self.messages)


@mutant(
    breaks="transcript",
    statement="replace_messages stores the lossy merge (seed 141, hermes #24211)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.gone",
)
def stores_the_merge(brief: Brief) -> None:
    """The repaired list replaces the stored rows at the end of each turn.

    The reference agent that replaces the rows.
    """
    build(brief, transcript=ReplacingTranscript).run()
