"""A thought is kept as its text: the signature that came with it is left behind."""

from __future__ import annotations

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Thinking
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with, with_blocks

MUTANT = Mutant(
    breaks="model",
    statement="Thinking goes back with an empty signature (kaitranntt/ccs #415, strangers 2)",
    scenario="signature-lost",
    killed_by="valid_request.V16",
)


class TextAlone(SecondModel):
    """Keeps what a thought says."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer with bare thoughts."""
        return with_blocks(answer, bare)


def bare(block: Block) -> Block:
    """A thought without what only its provider reads."""
    return Thinking(block.text) if isinstance(block, Thinking) else block


def agent(brief: Brief) -> None:
    """The reference agent without signatures."""
    build_with(TextAlone, brief)
