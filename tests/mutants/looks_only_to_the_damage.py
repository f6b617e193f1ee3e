"""The reader stops at the first record that it does not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.agent import build
from harness.core.values.brief import Brief
from harness.stores.session_store import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="store",
    statement="The reader stopped at a run of zeros, and days of history were gone (incident 164)",
    scenario="zeros-after-a-power-loss",
    killed_by="reload_equivalence.forgotten",
)

READ = 2
"""How many rows stand before the damage."""


class ShortSighted:
    """A store that gives what stands before the damage and what came since the start."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._lost = [row.id for row in store.rows("main")[READ:]] if store.notes else []

    def load(self, session: str) -> Sequence[SessionRow]:
        """The rows that a reader finds that gives up half-way."""
        return [row for row in self._store.load(session) if row.id not in self._lost]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def agent(brief: Brief) -> None:
    """The reference agent with such a store."""
    build(brief, store=ShortSighted(brief.store)).run()
