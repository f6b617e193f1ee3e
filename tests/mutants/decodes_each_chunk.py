"""Each piece of the network is decoded by itself, so a character over two of them is lost."""

from __future__ import annotations

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="model",
    statement="Characters over two chunks become U+FFFD (incident 183)",
    scenario="characters-over-chunks+stream",
    killed_by="stream_error_handled.chunks",
)


class Piecewise(SecondModel):
    """Reads text byte by byte."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer as its bytes say it one by one."""
        said = answer.message.blocks
        blocks = tuple(Text(_decoded(b.text)) if isinstance(b, Text) else b for b in said)
        return ModelAnswer(Message("assistant", blocks), answer.stop)


def _decoded(text: str) -> str:
    return "".join(bytes([byte]).decode("utf-8", "replace") for byte in text.encode())


def agent(brief: Brief) -> None:
    """The reference agent whose client decodes each piece of the network."""
    build_with(Piecewise, brief)
