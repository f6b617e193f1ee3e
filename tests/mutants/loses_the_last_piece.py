"""What stands in the chunk with the finish reason is lost."""

from __future__ import annotations

import json

import msgspec

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, ToolUse
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with, with_blocks

MUTANT = Mutant(
    breaks="model",
    statement="A chunk with `finish_reason` is taken for the end (jeremychone/rust-genai#164)",
    scenario="calls-glued-together/all-in-the-last-chunk@openai-chat+stream",
    killed_by="calls_handled.misread",
)


class WithoutTheLastPiece(SecondModel):
    """Reads the last call without the end of its arguments."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer, its last call cut."""
        last = answer.message.tool_uses[-1:]

        def cut(block: Block) -> Block:
            if not isinstance(block, ToolUse) or block not in last:
                return block
            return msgspec.structs.replace(block, input=json.dumps(block.input)[:-1])

        return with_blocks(answer, cut)


def agent(brief: Brief) -> None:
    """The reference agent behind such a client."""
    build_with(WithoutTheLastPiece, brief)
