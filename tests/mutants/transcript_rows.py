"""The rows of a transcript: wrong agents that lose, double or share them."""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from itertools import count
from typing import Any

from harness.agent import build
from harness.agent.conversation.content import clean, is_note
from harness.agent.conversation.projection import Projection
from harness.agent.sessions.transcript import RetryingStore, RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, user
from harness.stores import SessionStore
from harness.stores.session_store import SessionRow
from tests.mutants import mutant


class Forgiving(RowTranscript):
    """Does not look at what the store says."""

    def append(self, message: Message) -> None:
        """Store a message if that works, and add it."""
        try:
            super().append(message)
        except Exception:
            self._rows.append(SessionRow("", message))


@mutant(
    breaks="transcript",
    statement="A write that was locked out is dropped (incidents 167, 170; fujibee/agmsg#114)",
    scenario="no-room-for-a-row/in-the-last-moment",
    killed_by="no_silent_loss.lost",
)
def loses_a_row(brief: Brief) -> None:
    """A row that cannot be written is left out, and the turn goes on.

    The reference agent that takes a failed write for a written row.
    """
    build(brief, store=brief.store, transcript=Forgiving).run()


def cleaned(session: str) -> str:
    """A name that any file system takes."""
    plain = unicodedata.normalize("NFC", session).casefold()
    return re.sub(r"\W", "_", plain)


class ByFileName(RowTranscript):
    """Reads the history of every chat whose name is the same once it is cleaned."""

    def __init__(
        self, names: list[str], store: SessionStore, session: str, project: Projection
    ) -> None:
        super().__init__(store, session, project)
        names.append(session)
        self._others = [n for n in dict.fromkeys(names) if cleaned(n) == cleaned(session)]

    def load(self) -> list[SessionRow]:
        """The rows of all these chats; those of the chat itself come last."""
        last = sorted(self._others, key=lambda name: name == self._session)
        return [row for name in last for row in self._store.load(name)]


@mutant(
    breaks="transcript",
    statement="Two names that differ by a blank, by case or by their Unicode form are one session",
    scenario="chats-that-count-alike/names-that-differ-by-a-space",
    killed_by="session_isolation.message",
)
def cleans_session_names(brief: Brief) -> None:
    """Names of chats become names of files, and two chats share one file.

    The reference agent that cleans names.
    """
    build(brief, transcript=partial(ByFileName, [])).run()


class Committed(RowTranscript):
    """Keeps the steps of a turn in memory until it has succeeded."""

    def append(self, message: Message) -> None:
        """Add a message in memory."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the steps of a success, and the reply in any case."""
        for row in self._rows if outcome.status == "ok" else ():
            if not row.id:
                self._store.append(self._session, row.message)
        super().close(inbound, outcome)


@mutant(
    breaks="transcript",
    statement="The rows of a failed turn are taken back, and what its calls did stays",
    scenario="redelivered-in-a-long-turn/the-turn-fails",
    killed_by="turn_closed.effect",
)
def commits_successes_only(brief: Brief) -> None:
    """A turn is one transaction of the store: if it fails, its calls and results are rolled back.

    The reference agent that rolls failed turns back.
    """
    build(brief, transcript=Committed).run()


@mutant(
    breaks="transcript",
    statement="A store that fails longer than the agent tries loses the row (incidents 167, 168)",
    scenario="no-room-for-a-row/full-for-good",
    killed_by="no_silent_loss.lost",
)
def drops_a_row_after_ten_tries(brief: Brief) -> None:
    """A row that the store refuses is tried for a minute, and then dropped silently.

    The reference agent that goes on after nine tries.
    """
    store = RetryingStore(brief.store, brief.clock.sleep, (0.1, *range(1, 8)))
    build(brief, store=store, transcript=Forgiving).run()


class BatchTranscript(RowTranscript):
    """Writes a turn's rows in one go at its end; the disk is busy at the second one."""

    def append(self, message: Message) -> None:
        """Keep a message for the end of the turn."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Flush, and flush again when it fails."""
        waiting = [row.message for row in self._rows if not row.id]
        for last in (2, None):
            for message in waiting[:last]:
                self._store.append(self._session, message)
        super().close(inbound, outcome)


@mutant(
    breaks="transcript",
    statement="A write that fails half way duplicates earlier rows (seed 145, hermes #19407)",
    scenario="busy",
    killed_by="reload_equivalence.duplicate",
)
def failed_write_repeats(brief: Brief) -> None:
    """A flush that fails half way begins again at its first row.

    The reference agent that flushes a whole batch again.
    """
    build(brief, transcript=BatchTranscript).run()


class Forgetting(RowTranscript):
    """A transcript that notes in memory what it leaves out."""

    def append(self, message: Message) -> None:
        """Add a message, and store it unless it is the note."""
        if is_note(message):
            self._rows.append(SessionRow("", message))
        else:
            super().append(message)


@mutant(
    breaks="transcript",
    statement="What was refused is known until the turn ends (openai/codex#3097)",
    scenario="refused-picture",
    killed_by="no_blind_resend.same_content",
)
def forgets_a_refused_picture(brief: Brief) -> None:
    """A picture that the provider refused is left out of its own turn, and comes back in the next.

    The reference agent that repairs only the request.
    """
    build(brief, transcript=Forgetting).run()


class BlankPage(RowTranscript):
    """Forgets what is stored when any of it is damaged."""

    def wire(self, nudge: str = "") -> list[Message]:
        """The last message alone, if the store has something to say about the others."""
        told = super().wire(nudge)
        return told[-1:] if self._store.notes else told


def transcript(store: SessionStore, session: str, projection: Projection) -> BlankPage:
    """The history of a session, or nothing."""
    return BlankPage(store, session, projection)


@mutant(
    breaks="transcript",
    statement="A torn last line, and the conversation is shown blank (incidents 162, 164, 165)",
    scenario="torn-last-line",
    killed_by="reload_equivalence.forgotten",
)
def gives_up_at_damage(brief: Brief) -> None:
    """Something in the store cannot be read, and the agent begins with a blank page.

    The reference agent that gives the past up.
    """
    build(brief, transcript=transcript).run()


class AddressTranscript(RowTranscript):
    """Skips a message whose address is among those that were stored."""

    def __init__(self, stored: set[int], *parts: Any) -> None:
        """Begin with the addresses that earlier turns have stored."""
        super().__init__(*parts)
        self._stored, self._addresses = stored, count()

    def append(self, message: Message) -> None:
        """Store a message, unless its address is known."""
        if self._is_new():
            super().append(message)
        else:
            self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the reply, unless its address is known."""
        if self._is_new():
            super().close(inbound, outcome)

    def _is_new(self) -> bool:
        address = next(self._addresses)
        is_new = address not in self._stored
        self._stored.add(address)
        return is_new


@mutant(
    breaks="transcript",
    statement="A new row is taken for a stored one whose address it has (seed 142, hermes #56284)",
    scenario="bad-endings/truncated-call",
    killed_by="reload_equivalence.lost_reply",
)
def identity_by_address(brief: Brief) -> None:
    """What is stored is known by its address in memory, and addresses are used again.

    The addresses of a turn are free when it is over, and the next turn's messages get them; here
    by a counter that restarts, where an allocator would do it now and then.

    The reference agent that knows rows by their address.
    """
    build(brief, transcript=partial(AddressTranscript, set())).run()


@mutant(
    breaks="transcript",
    statement="A list of messages is shared by the sessions of all users (seed 14)",
    scenario="words-of-another-user",
    killed_by="session_isolation.message",
)
def one_list_for_all_sessions(brief: Brief) -> None:
    """One list of messages serves every session: each user's requests hold what the others wrote.

    The reference agent with one list for a whole run.
    """
    rows: list[SessionRow] = []

    class Shared(RowTranscript):
        def open(self, inbound: Inbound) -> bool:
            is_new = super().open(inbound)
            rows.extend(self._rows[-1:] if is_new else [])
            self._rows = rows
            return is_new

        def close(self, inbound: Inbound, outcome: Outcome) -> None:
            super().close(inbound, outcome)
            rows.append(SessionRow("", outcome.message))

    build(brief, transcript=Shared).run()


class ShallowTranscript(RowTranscript):
    """Merges two user rows into the first of them, and leaves the second where it is."""

    def wire(self, nudge: str = "") -> list[Message]:
        """The request, made of rows that are shared with the live history."""
        kept: list[int] = []
        for place, row in enumerate(self._rows):
            first = self._rows[kept[-1]] if kept else None
            if first and first.message.role == row.message.role == "user":
                merged = Message("user", first.message.blocks + row.message.blocks)
                self._rows[kept[-1]] = SessionRow(first.id, merged, first.inbound)
            else:
                kept.append(place)
        return self._project([self._rows[place].message for place in kept])


@mutant(
    breaks="transcript",
    statement="A merge on a shallow copy grows the shared message with every request (seed 137)",
    scenario="damaged-history/repaired-in-a-tool-loop",
    killed_by="append_only_prefix.messages",
)
def repairs_shared_rows(brief: Brief) -> None:
    """The list is copied for repair, the messages in it are not: a merge is written into the past.

    The reference agent that repairs shared messages.
    """
    build(brief, transcript=ShallowTranscript).run()


class Bare(RowTranscript):
    """Takes an interrupted turn up with the words of its user, and nothing that came after."""

    def resume(self, inbound: Inbound) -> int:
        """Load the interrupted turn, and forget all but its message."""
        attempts = super().resume(inbound)
        said = [row for row in self._rows if row.message.text == inbound.text]
        self._rows = said[-1:]
        return attempts


@mutant(
    breaks="transcript",
    statement="The resumed history lacks finished results, and the tools run again (incidents 157)",
    scenario="continue-repeats-the-tools/killed-in-the-text+stream",
    killed_by="history_faithful.forgotten_effect",
)
def resumes_with_a_bare_message(brief: Brief) -> None:
    """After a kill the turn restarts with its message alone, without the calls that it made.

    The reference agent with amnesia after a kill.
    """
    build(brief, transcript=Bare).run()


class LateTranscript(RowTranscript):
    """Keeps a turn in memory until it is over."""

    def open(self, inbound: Inbound) -> bool:
        """Begin a turn in memory."""
        self._rows = [*self._store.load(self._session), SessionRow("", user(clean(inbound.text)))]
        return True

    def append(self, message: Message) -> None:
        """Add a message in memory."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the whole turn."""
        self._store.accept(inbound, user(clean(inbound.text)))
        super().close(inbound, outcome)


@mutant(
    breaks="transcript",
    statement="A turn that dies takes the user's message with it (incidents 172, 173)",
    scenario="replay-spiral",
    killed_by="durable_first",
)
def stores_late(brief: Brief) -> None:
    """The user's message is stored with the reply, when the turn is over.

    The reference agent that stores a turn at its end.
    """
    build(brief, transcript=LateTranscript).run()
