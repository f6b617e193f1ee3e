"""Each chunk of a stream is taken to have a choice; one without fails as a broken stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.agent import build
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import MODEL
from harness.agent.models.openai_chat_model import OpenAIChatModel
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="model",
    statement="A chunk without choices is an index error (fault S19, Azure's content filter)",
    scenario="first-chunk-without-choices@openai-chat+stream",
    killed_by="answer_taken.unread",
)


class FirstChoices:
    """The SDK's client, with streams that end at a chunk without choices."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        return FirstChoices(value) if name in ("chat", "completions") else value

    def with_options(self, **options: Any) -> FirstChoices:
        """The same with other options."""
        return FirstChoices(self._client.with_options(**options))

    def create(self, **params: Any) -> Any:
        """An answer."""
        answer = self._client.create(**params)
        return _read(answer) if params.get("stream") else answer


def _read(chunks: Any) -> Iterator[Any]:
    for chunk in chunks:
        try:
            chunk.choices[0]
        except IndexError as error:
            raise ModelFailure("broken_stream", str(error)) from None
        yield chunk


def agent(brief: Brief) -> None:
    """The reference agent with a client that reads first choices."""
    stream = bool(brief.options.get("stream"))
    build(brief, model=OpenAIChatModel(FirstChoices(brief.openai()), stream, MODEL)).run()
