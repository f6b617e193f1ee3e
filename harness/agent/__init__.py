"""The reference agent: a correct agent to copy from, and the harness's own proof.

`loop` is one turn, `gateway` what is around it, and each thing that agents get wrong is a part of
its own: guards, overflow, compaction, projection, transcript, store, tools, model, policy.
`assembly` puts them together. Nothing is imported before an agent is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.agent.gateway import Gateway
    from harness.core.values.brief import Brief


def build(brief: Brief, **parts: Any) -> Gateway:
    """The agent for a brief; each keyword replaces the part of that name (`assembly.Parts`).

    Raises TypeError for a part that does not exist.
    """
    from harness.agent import composition

    return composition.build(brief, **parts)


def agent(brief: Brief) -> None:
    """Serve a brief: the target `reference`."""
    build(brief).run()
