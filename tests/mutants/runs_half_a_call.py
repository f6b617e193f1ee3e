"""A stream that simply ends is a whole answer, as the SDK takes it, and its calls are run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.agent import build
from harness.agent.models.anthropic_blocks import read_block
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.model_call import ModelAnswer, answer_of
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="A call whose stream broke off is run with repaired arguments (hermes-agent#89207)",
    scenario="answer-breaks-off/inside-a-call+stream",
    killed_by="stream_error_handled.executed",
)


class Trusting(AnthropicModel):
    """Does not wait for the terminal event."""

    def _streamed(
        self, endpoint: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        with endpoint.stream(**params) as stream:
            message = stream.get_final_message()
        blocks = [read_block(block.to_dict()) for block in message.content]
        has_calls = any(block.type == "tool_use" for block in message.content)
        return answer_of(blocks, "tool_use" if has_calls else "end_turn")


def agent(brief: Brief) -> None:
    """The reference agent that trusts the SDK."""
    build(brief, model=Trusting(brief.anthropic(), stream=True)).run()
