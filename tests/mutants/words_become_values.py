"""The texts null, none, true and false in arguments become values."""

from __future__ import annotations

import msgspec

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, ToolUse
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with, with_blocks

MUTANT = Mutant(
    breaks="model",
    statement="A person called Null loses the name on the way to the tool (fault M6)",
    scenario="agno-words-become-values@openai-chat",
    killed_by="args_complete.changed",
)

VALUES = {"null": None, "none": None, "true": True, "false": False}


class Converting(SecondModel):
    """Reads words as values."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer with other arguments."""
        return with_blocks(answer, converted)


def converted(block: Block) -> Block:
    """A call with values in place of words."""
    if not isinstance(block, ToolUse) or not isinstance(block.input, dict):
        return block
    given = {key: VALUES.get(str(value).lower(), value) for key, value in block.input.items()}
    return msgspec.structs.replace(block, input=given)


def agent(brief: Brief) -> None:
    """The reference agent that reads words as values."""
    build_with(Converting, brief)
