"""The size of the prompt is counted too large, so each turn begins with a compaction."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_model
from harness.agent.context_overflow import compact
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel

MUTANT = Mutant(
    breaks="turn",
    statement="The schemas of the tools count twice, and each turn compacts (incidents 54)",
    scenario="compressed-at-every-turn",
    killed_by="compaction_due.useless",
)


class Counting(SecondModel):
    """Knows what the last request cost."""

    tokens = 0

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Note the tokens of a main request."""
        self.tokens = answer.tokens if query.purpose == "main" else self.tokens
        return answer


class EachTurn(Loop):
    """Compacts before the first request of a turn, by what it takes for the size of the prompt."""

    told: Counting
    window: int
    factor: float

    def query(self, tools_withdrawn: bool = False) -> ModelAnswer:
        """The answer to what a compaction leaves."""
        is_full = self.told.tokens * self.factor > self.window
        if is_full and not self.counts["model calls"]:
            found = _any_summary(self.transcript.messages, 1_000, self.model.query)
            if found is not None:
                self.transcript.compact(found.summary, found.keep)
        return super().query(tools_withdrawn)


_any_summary = partial(compact, is_summary=lambda *_: True, saves_enough=lambda *_: True)


def compacting(brief: Brief, window: int, factor: float) -> None:
    """Run an agent with this window, which counts so many times what a prompt has."""
    told = Counting(standard_model(brief))
    settings = {"told": told, "window": window, "factor": factor}
    build(brief, model=told, turn=type("Compacting", (EachTurn,), settings)).run()


def agent(brief: Brief) -> None:
    """The reference agent that counts 40 percent too much."""
    compacting(brief, 250_000, 1.4)
