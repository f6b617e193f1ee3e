"""Agents that read the arguments of a call wrongly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.guards import Guard
from harness.agent.guards.guard_protocol import is_unparsed
from harness.agent.models.model_call import ModelAnswer, Query
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, Message, ToolSpec, ToolUse
from tests.mutants.second_model import SecondModel


class _Strict:
    """The SDK's resource, whose empty arguments are an empty text."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions

    def create(self, **params: Any) -> Any:
        """The answer."""
        completion = self._completions.create(**params)
        for choice in completion.choices:
            for call in choice.message.tool_calls or ():
                call.function.arguments = call.function.arguments or '""'
        return completion


class _StrictModel(OpenAIChatModel):
    def _plain(
        self, completions: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        return super()._plain(_Strict(completions), params, show)


def refuses_empty_arguments(brief: Brief) -> None:
    """Takes "" where no arguments are needed for arguments that cannot be read,
    as often as they come."""
    build(brief, model=_StrictModel(brief.openai(), False), guards=_no_guards).run()


def _no_guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return ()


class _Repairing(SecondModel):
    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Put {} in place of arguments that cannot be parsed, and run all calls."""
        blocks = tuple(map(_repaired, answer.message.blocks))
        stop = "tool_use" if answer.message.tool_uses else answer.stop
        return ModelAnswer(Message("assistant", blocks), stop)


def _repaired(block: Block) -> Block:
    is_cut = isinstance(block, ToolUse) and is_unparsed(block.input)
    return msgspec.structs.replace(block, input={}) if is_cut else block


def repairs_what_was_cut(brief: Brief) -> None:
    """Runs a call whose arguments were cut off with the empty object."""
    build(brief, model=_Repairing(standard_model(brief)), guards=_no_guards).run()
