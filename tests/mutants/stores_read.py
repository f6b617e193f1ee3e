"""The store on disk: wrong agents that give up at what can be read, or write without an end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.agent import build
from harness.agent.sessions.transcript import RetryingStore
from harness.core.values.brief import Brief
from harness.stores.session_store import SessionRow
from tests.mutants import mutant
from tests.runner import line_store

READ = 2
"""How many rows stand before the damage."""


class _Reader:
    """Another store, with a reader of its own kind."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class ShortSighted(_Reader):
    """A store that gives what stands before the damage and what came since the start."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self._lost = [row.id for row in store.rows("main")[READ:]] if store.notes else []

    def load(self, session: str) -> Sequence[SessionRow]:
        """The rows that a reader finds that gives up half-way."""
        return [row for row in self._store.load(session) if row.id not in self._lost]


class ShortLines(_Reader):
    """A store whose reader has room for 64 kB of a line."""

    def load(self, session: str) -> Sequence[SessionRow]:
        """The rows that fit."""
        rows = self._store.load(session)
        return [r for r in rows if sum(len(b.text) for b in r.message.tool_results) < 2**16]


@mutant(
    breaks="store",
    statement="A line that is longer than the buffer of its reader is left out (issue 32)",
    scenario="read-and-forgotten/in-a-line-of-90-kilobytes",
    killed_by="reload_equivalence.duplicate",
)
def skips_long_lines(brief: Brief) -> None:
    """Two large results in one row are stored, and after a restart they never were.

    The reference agent with such a store.
    """
    build(brief, store=ShortLines(brief.store)).run()


class OneSession(_Reader):
    """A store that gives the rows of one session back, and of others what came since the start."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self._past = dict[str, int]()

    def load(self, session: str) -> Sequence[SessionRow]:
        """All rows of the session that is asked for first."""
        rows = self._store.load(session)
        said = [n for n, row in enumerate(rows, 1) if row.message.role == "assistant"]
        past = said[-1] if said and self._past else 0
        return rows[self._past.setdefault(session, past) :]


@mutant(
    breaks="store",
    statement="After a restart one session is restored, and the others begin anew (issue 32)",
    scenario="words-of-another-user/started-again-between",
    killed_by="reload_equivalence.forgotten",
)
def restores_one_session(brief: Brief) -> None:
    """Who writes first after a start is known, and no other user is.

    The reference agent with such a store.
    """
    build(brief, store=OneSession(brief.store)).run()


@mutant(
    breaks="store",
    statement="The reader stopped at a run of zeros, and days of history were gone (incident 164)",
    scenario="zeros-after-a-power-loss",
    killed_by="reload_equivalence.forgotten",
)
def looks_only_to_the_damage(brief: Brief) -> None:
    """The reader stops at the first record that it does not know.

    The reference agent with such a store.
    """
    build(brief, store=ShortSighted(brief.store)).run()


@mutant(
    breaks="store",
    statement="What follows a bad line is never read again (incident 164, claude-code#53821)",
    scenario="own-file-left-half-written",
    killed_by="inbound_exactly_once.twice",
)
def stops_at_a_bad_line(brief: Brief) -> None:
    """A reader of the agent's own file that stops at a line it cannot read, and appends behind it.

    The agent with lines of a file, which stops at a bad one.
    """
    line_store.stops(brief)


@mutant(
    breaks="store",
    statement="A lock that is held for seconds costs the turn (incident 167; faults P7)",
    scenario="failing-store",
    killed_by="expect.outcome",
)
def tries_a_locked_store_once(brief: Brief) -> None:
    """A write that fails because of a lock is not tried again, and the turn is lost with it.

    The reference agent on the bare store.
    """
    build(brief, store=brief.store).run()


TIMES = 10_000


@mutant(
    breaks="store",
    statement="A retry without a bound holds the turn as long as the disk is full (faults P9)",
    scenario="no-room-for-a-row/for-an-hour",
    killed_by="no_silent_loss.unbounded",
)
def writes_for_ever(brief: Brief) -> None:
    """A write that fails is tried again until it succeeds, however long that takes.

    The reference agent that never gives a write up.
    """
    store: Any = RetryingStore(brief.store, brief.clock.sleep, (10.0,) * TIMES)
    build(brief, store=store).run()
