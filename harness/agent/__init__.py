"""The reference agent: a correct agent to copy from, and the harness's own proof.

`agent` serves a brief; `build` assembles the agent and replaces any part. Read `gateway` first,
then `agent_loop` (one turn) and `composition`. Names are imported on first use, so the target
`reference` costs nothing before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.agent.gateway import Gateway
    from harness.agent.guards import Decision as Decision
    from harness.agent.guards import EmptyInputGuard as EmptyInputGuard
    from harness.agent.guards import EndTurn as EndTurn
    from harness.agent.guards import Guard as Guard
    from harness.agent.guards import Guide as Guide
    from harness.agent.guards import IdenticalFailureGuard as IdenticalFailureGuard
    from harness.agent.guards import Proceed as Proceed
    from harness.agent.guards import Refuse as Refuse
    from harness.agent.guards import RepeatGuard as RepeatGuard
    from harness.agent.guards import Watch as Watch
    from harness.agent.guards import standard_guards as standard_guards
    from harness.core.values.brief import Brief
else:
    from harness.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__, "agent", "build")


def build(brief: Brief, **parts: Any) -> Gateway:
    """The agent for a brief; each keyword replaces the part of that name (`composition.Parts`).

    Raises TypeError for a part that does not exist.
    """
    from harness.agent import composition

    return composition.build(brief, **parts)


def agent(brief: Brief) -> None:
    """Serve a brief: the target `reference`."""
    build(brief).run()
