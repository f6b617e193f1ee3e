"""The key is a hash of the first 120 UTF-16 units of a text: half an emoji cannot be encoded."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.halt import Halt, instead

MUTANT = Mutant(
    breaks="guards",
    statement="A lone surrogate crashes the hash of a result (seed 112, hermes guardrails)",
    scenario="repeated-errors/half-an-emoji",
    killed_by="expect.outcome",
)


class Hashed(Halt):
    """Counts by the hash of the error's beginning."""

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """The tool and the hash of 120 units of its error, as a counter in UTF-16 cuts it."""
        units = result.text.encode("utf-16-le", "surrogatepass")[:240]
        beginning = units.decode("utf-16-le", "surrogatepass")
        return call.name, hashlib.sha256(beginning.encode()).hexdigest()


def agent(brief: Brief) -> None:
    """The reference agent that hashes what it cut."""
    build(brief, guards=instead(Hashed)).run()
