"""Circles are looked for among single calls: six calls in one message are too many for one."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolSpec
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="A batch that comes again and again is not a circle of single calls (hermes #69695)",
    scenario="circles/batches-of-six",
    killed_by="no_progress_stop.cycle",
)


class OneByOne(RepeatGuard):
    """Has no batches."""

    def begin_step(self) -> None:
        """Forget the batch."""
        self._batch.clear()
        super().begin_step()


def _one_by_one(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (OneByOne(),)


def agent(brief: Brief) -> None:
    """The reference agent that sees no batches."""
    build(brief, guards=_one_by_one).run()
