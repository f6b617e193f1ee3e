"""The stored history goes on the wire as it is, violations and all."""

from __future__ import annotations

from collections.abc import Iterable

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="projection",
    statement="user/user and orphans of the store reach the provider (incidents 1-12, 37)",
    scenario="replay-spiral",
    killed_by="role_alternation",
)


def _as_it_is(messages: Iterable[Message]) -> list[Message]:
    return list(messages)


def agent(brief: Brief) -> None:
    """The reference agent without a projection."""
    build(brief, projection=_as_it_is).run()
