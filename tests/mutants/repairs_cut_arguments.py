"""Arguments that were cut are closed with the brackets that they lack, and the call is run."""

from __future__ import annotations

import json

import msgspec

from harness.agent.guards.guard_protocol import UNPARSED
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Json, ToolUse
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with, with_blocks

MUTANT = Mutant(
    breaks="model",
    statement="A payment that was cut from 1500 to 15 is made (fault M7; incidents 114)",
    scenario="llama-index-cut-call-runs@openai-chat+stream",
    killed_by="args_complete.truncated",
)

ENDS = ("}", '"}', "]}", '"]}', "null}", '":null}')
"""What completes a cut object of one level."""


class Repairing(SecondModel):
    """Takes a cut answer for a whole one, and repairs its calls."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer with calls that can be run."""
        whole = with_blocks(answer, repaired)
        return answer if whole == answer else msgspec.structs.replace(whole, stop="tool_use")


def repaired(block: Block) -> Block:
    """A call with the arguments that could be saved."""
    if not isinstance(block, ToolUse) or UNPARSED not in (block.input or {}):
        return block
    return msgspec.structs.replace(block, input=saved(str(block.input[UNPARSED])))


def saved(text: str) -> Json:
    """The longest beginning of a text that becomes JSON with an end."""
    for length in range(len(text), 0, -1):
        for end in ENDS:
            try:
                return json.loads(text[:length].rstrip(", ") + end)
            except ValueError:
                continue
    return {}


def agent(brief: Brief) -> None:
    """The reference agent that repairs what was cut."""
    build_with(Repairing, brief)
