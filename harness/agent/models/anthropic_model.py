"""The model behind the official `anthropic` SDK, with two corrections of the SDK.

The SDK accepts a stream without its end as complete; this file requires the terminal event. The SDK
repairs the arguments of a cut call; this file reads them strictly (`model_call.arguments_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from harness.agent.conversation.content import clean
from harness.agent.models.anthropic_blocks import read_block, write_message
from harness.agent.models.failures import (
    SYNTHETIC,
    ModelFailure,
    classify,
    classify_answer,
    raised_as_failures,
    unusable,
    with_timeout,
)
from harness.agent.models.model_call import (
    MAX_TOKENS,
    MODEL,
    ModelAnswer,
    Query,
    answer_of,
    arguments_of,
)
from harness.agent.models.plain_client import PlainClient
from harness.agent.models.timeouts import (
    failing_on_silence,
    with_bounded_retry_after,
    with_read_timeout,
)
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class AnthropicModel:
    """A model behind an `anthropic.Anthropic` client, streamed or not.

    A client whose `streams` is False is called without a stream.
    """

    api = "anthropic"
    usual_model = MODEL
    base_path = ""
    text_results = False

    bounded = staticmethod(with_bounded_retry_after)
    watched = staticmethod(failing_on_silence)

    def __init__(
        self, client: Any, stream: bool, model: str = MODEL, max_tokens: int = MAX_TOKENS
    ) -> None:
        self._client = self.bounded(with_read_timeout(client))
        self._stream = stream and getattr(client, "streams", True)
        self._settings = {"model": model, "max_tokens": max_tokens}

    @staticmethod
    def client_of(brief: Brief) -> Any:
        """The SDK's client; with the option `client=plain`, an in-process client without the
        SDK."""
        if brief.options.get("client") == "plain":
            return PlainClient(brief.transport, brief.base_url)
        return brief.anthropic()

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> ModelAnswer:
        """The model's answer.

        Raises ModelFailure for every error of the SDK, the HTTP library or malformed bytes.
        """
        ask = self._streamed if self._stream and query.timeout_s is None else self._plain
        client = with_timeout(self._client, query.timeout_s)
        with raised_as_failures(classify):
            return ask(client.messages, self._params(query), show)

    def _params(self, query: Query) -> dict[str, Any]:
        tools = [msgspec.to_builtins(tool) for tool in query.tools]
        return {
            **self._settings,
            "system": query.system,
            "messages": [write_message(message) for message in query.messages],
            **({"tools": tools} if tools else {}),
            **({"tool_choice": {"type": "none"}} if tools and query.tools_withdrawn else {}),
            "extra_headers": {"x-harness-purpose": query.purpose},
        }

    def _plain(
        self, messages: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        message = messages.create(**params)
        if getattr(message, "content", None) is None:
            raise unusable(message)
        if message.stop_reason is None:
            raise ModelFailure("broken_stream", "the answer does not say why it ended")
        answer = _answer(message, {})
        if show is not None and answer.message.text:
            show(answer.message.text)
        return answer

    def _streamed(
        self, messages: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> ModelAnswer:
        inputs: dict[int, str] = {}
        complete = False
        with messages.stream(**params) as stream:
            for event in _events(self.watched(stream)):
                complete = complete or event.type == "message_stop"
                if event.type == "message_start" and event.message.model == SYNTHETIC:
                    show = None
                if event.type == "content_block_delta":
                    _take_delta(event, inputs, show)
            message = stream.get_final_message()
        if not complete or message.stop_reason is None:
            raise ModelFailure("broken_stream", "the answer ended before it was complete")
        return _answer(message, inputs)


def _events(stream: Any) -> Iterator[Any]:
    """The events of a stream; the SDK raises for an event without a required field."""
    try:
        yield from stream
    except (AttributeError, TypeError) as error:
        raise ModelFailure("broken_stream", f"an event could not be read: {error}") from error


def _take_delta(event: Any, inputs: dict[int, str], show: Callable[[str], None] | None) -> None:
    if event.delta.type == "input_json_delta":
        inputs[event.index] = inputs.get(event.index, "") + event.delta.partial_json
    elif event.delta.type == "text_delta" and show is not None:
        show(clean(event.delta.text))


def _answer(message: Any, inputs: dict[int, str]) -> ModelAnswer:
    """The answer in a message. Raises ModelFailure for a message that a wrapper wrote."""
    tokens = _tokens(message)
    said = "\n".join(block.text for block in message.content if block.type == "text")
    kind = classify_answer(message.model, tokens, said)
    if kind is not None:
        raise ModelFailure(kind, said)
    blocks = [read_block(block.to_dict()) for block in message.content]
    for index, text in inputs.items():
        block = blocks[index]
        if isinstance(block, ToolUse) and text:
            blocks[index] = msgspec.structs.replace(block, input=arguments_of(text))
    return answer_of(blocks, message.stop_reason, tokens)


def _tokens(message: Any) -> int | None:
    usage = getattr(message, "usage", None)
    counts = [getattr(usage, name, None) for name in _COUNTS]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None
