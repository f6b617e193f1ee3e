"""The pieces of a call are put together by the number of its place alone."""

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
    statement="A clone numbered all calls 0: web_searchweb_search, with both inputs (119)",
    scenario="calls-glued-together@openai-chat+stream",
    killed_by="calls_handled.misread",
)


class ByPlace:
    """The SDK's resource, without the ids of calls whose place is taken."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions

    def create(self, **params: Any) -> Iterator[Any]:
        """The chunks, in which only the first id at a place is left."""
        taken: set[int] = set()
        for chunk in self._completions.create(**params):
            for choice in chunk.choices or ():
                for call in choice.delta.tool_calls or ():
                    call.id = None if call.index in taken else call.id
                    taken.add(call.index)
            yield chunk


class GluingModel(OpenAIChatModel):
    """Does not look at ids."""

    def _opened(self, endpoint: Any, params: dict[str, Any]) -> AbstractContextManager[Any]:
        return super()._opened(ByPlace(endpoint), params)


def agent(brief: Brief) -> None:
    """The reference agent that glues calls together."""
    model = GluingModel(brief.openai(), is_on(brief, "stream"), MODEL, MAX_TOKENS)
    build(brief, model=model).run()
