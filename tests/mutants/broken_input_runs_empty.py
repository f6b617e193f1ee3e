"""A stream that ends inside the input of a call gives a call without input, and it is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.guards.guard_protocol import UNPARSED
from harness.agent.models.failures import stream_pieces
from harness.agent.models.model_call import ModelAnswer
from harness.agent.models.openai_chat_model import OpenAIChatModel, _ChatAnswer
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, ToolUse
from tests.mutants import Mutant
from tests.mutants.second_model import with_blocks

MUTANT = Mutant(
    breaks="model",
    statement="A cut call to delete one folder deletes all folders (fault S3)",
    scenario="strands-unreadable-input-runs-empty@openai-chat+stream",
    killed_by="args_complete.incomplete",
)


class Trusting(OpenAIChatModel):
    """Does not wait for the reason of the end."""

    def _streamed(
        self, endpoint: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        heard = _ChatAnswer()
        for chunk in stream_pieces(endpoint.create(**params, stream=True)):
            for choice in chunk.choices or ():
                heard._take_message(choice.delta)
        heard._stop = "stop"
        answer = with_blocks(heard.answer(), emptied)
        is_call = bool(answer.message.tool_uses)
        return msgspec.structs.replace(answer, stop="tool_use") if is_call else answer


def emptied(block: Block) -> Block:
    """A call without the input that cannot be read."""
    if isinstance(block, ToolUse) and UNPARSED in block.input:
        return msgspec.structs.replace(block, input={})
    return block


def agent(brief: Brief) -> None:
    """The reference agent that trusts a stream without an end."""
    build(brief, model=Trusting(brief.openai(), stream=True)).run()
