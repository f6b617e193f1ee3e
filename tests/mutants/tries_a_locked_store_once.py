"""A write that fails because of a lock is not tried again, and the turn is lost with it."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="store",
    statement="A lock that is held for seconds costs the turn (incident 167; faults P7)",
    scenario="failing-store",
    killed_by="expect.outcome",
)


def agent(brief: Brief) -> None:
    """The reference agent on the bare store."""
    build(brief, store=brief.store).run()
