"""The stream is taken to be over as soon as it names a reason for its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from harness.agent import build
from harness.agent.composition import is_on
from harness.agent.models.model_call import MAX_TOKENS, MODEL
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="A client stopped at the first finish reason, and lost the call behind it (row 120)",
    scenario="end-told-too-early@openai-chat+stream",
    killed_by="no_false_stop.ended",
)


class Hasty:
    """The SDK's resource, whose streams end with the first reason for an end."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions

    def create(self, **params: Any) -> Iterator[Any]:
        """The chunks up to that reason."""
        for chunk in self._completions.create(**params):
            yield chunk
            if any(choice.finish_reason for choice in chunk.choices or ()):
                return


class HastyModel(OpenAIChatModel):
    """Reads no further than it must."""

    def _opened(self, endpoint: Any, params: dict[str, Any]) -> AbstractContextManager[Any]:
        return super()._opened(Hasty(endpoint), params)


def agent(brief: Brief) -> None:
    """The reference agent that leaves before the end."""
    model = HastyModel(brief.openai(), is_on(brief, "stream"), MODEL, MAX_TOKENS)
    build(brief, model=model).run()
