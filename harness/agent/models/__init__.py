"""The models that the loop calls: one mechanism here, and beside it a codec for each API.

A codec is a `ProviderModel` with the parameters of a request, and an `AnswerSoFar` that reads what
comes back. The SDKs accept a stream without its end as complete, so an answer needs its end here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from copy import copy
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeAlias

from harness.agent.conversation.content import clean
from harness.agent.models.failures import (
    SYNTHETIC,
    ModelFailure,
    classify_answer,
    raised_as_failures,
    stream_pieces,
)
from harness.agent.models.model_call import MAX_TOKENS, MODEL, ModelAnswer, Query, answer_of
from harness.agent.models.timeouts import (
    failing_on_silence,
    with_bounded_retry_after,
    with_read_timeout,
    with_timeout,
)
from harness.core.values.brief import Brief
from harness.core.values.messages import Block, ToolSpec

Show: TypeAlias = Callable[[str], None] | None


class AnswerSoFar:
    """What has come of one answer: whole (`read`), or piece by piece (`take`).

    `is_complete` says that the end of a stream has come, `is_over` that nothing more is read.
    """

    model = ""
    is_complete = is_over = False

    def read(self, value: Any) -> None:
        """Take an answer that came at once. Raises ModelFailure for a value that holds none."""
        raise NotImplementedError

    def take(self, piece: Any) -> Iterator[str]:
        """Take a piece of a stream, and yield the text in it that is for the user."""
        raise NotImplementedError

    def end(self, stream: Any) -> None:
        """Take what only the stream itself tells when it has ended."""

    def answer(self) -> ModelAnswer:
        """The complete answer. Raises ModelFailure as `whole` does."""
        raise NotImplementedError

    def whole(self, blocks: Sequence[Block], stop: str | None, tokens: int | None) -> ModelAnswer:
        """The answer of these blocks. Raises ModelFailure if a wrapper wrote it, or without a
        reason for its end."""
        answer = answer_of(blocks, stop or "", tokens)
        failed = classify_answer(self.model, tokens, answer.message.text)
        if failed is not None:
            raise ModelFailure(failed, answer.message.text)
        if not stop:
            raise ModelFailure("broken_stream", "the answer does not say why it ended")
        return answer


class ProviderModel:
    """A model behind a client of its provider, streamed or not.

    `endpoint` is the part of the client whose `create` makes a request. A client whose `streams`
    is False is called without a stream.
    """

    api: ClassVar[str]
    usual_model: ClassVar[str] = MODEL
    base_path: ClassVar[str] = ""
    text_results: ClassVar[bool] = True
    endpoint: ClassVar[str]
    answer_so_far: ClassVar[type[AnswerSoFar]]

    bounded = staticmethod(with_bounded_retry_after)
    watched = staticmethod(failing_on_silence)

    def __init__(
        self, client: Any, stream: bool, model: str = "", max_tokens: int = MAX_TOKENS
    ) -> None:
        self._client = self.bounded(with_read_timeout(client))
        self._stream = stream and getattr(client, "streams", True)
        self._model, self._max_tokens = model or self.usual_model, max_tokens

    @staticmethod
    def client_of(brief: Brief, /) -> Any:
        """The client for a brief."""
        raise NotImplementedError

    def at(self, base_url: str) -> Self:
        """The same model at another address."""
        other = copy(self)
        other._client = self._client.with_options(base_url=f"{base_url}{self.base_path}")
        return other

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The model's answer.

        Raises ModelFailure for every error of the client, the HTTP library or malformed bytes.
        """
        ask = self._streamed if self._stream and query.timeout_s is None else self._plain
        client = with_timeout(self._client, query.timeout_s)
        with raised_as_failures():
            params = {**self._params(query), "extra_headers": {"x-harness-purpose": query.purpose}}
            return ask(attrgetter(self.endpoint)(client), params, show)

    def _params(self, query: Query) -> dict[str, Any]:
        """The parameters of `create`."""
        raise NotImplementedError

    def _plain(self, endpoint: Any, params: dict[str, Any], show: Show) -> ModelAnswer:
        heard = self.answer_so_far()
        heard.read(endpoint.create(**params))
        answer = heard.answer()
        if show is not None and answer.message.text:
            show(answer.message.text)
        return answer

    def _streamed(self, endpoint: Any, params: dict[str, Any], show: Show) -> ModelAnswer:
        heard = self.answer_so_far()
        with self._opened(endpoint, params) as stream:
            for piece in stream_pieces(self.watched(stream)):
                for said in heard.take(piece):
                    if show is not None and heard.model != SYNTHETIC:
                        show(clean(said))
                if heard.is_over:
                    break
            heard.end(stream)
        if not heard.is_complete:
            raise ModelFailure("broken_stream", "the answer ended before it was complete")
        return heard.answer()

    def _opened(self, endpoint: Any, params: dict[str, Any]) -> AbstractContextManager[Any]:
        """The stream of an answer, which is closed at the end."""
        return closing(endpoint.create(**params, stream=True))


def with_tools(
    query: Query, write: Callable[[ToolSpec], Any], withdrawn: dict[str, Any]
) -> dict[str, Any]:
    """The parameters for the tools of a query: none without tools, and `withdrawn` beside the tools
    that the model may not use."""
    if not query.tools:
        return {}
    return {"tools": list(map(write, query.tools)), **(withdrawn if query.tools_withdrawn else {})}
