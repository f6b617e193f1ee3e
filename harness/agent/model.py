"""The model, asked through the real `anthropic` SDK, and the only file that knows it.

Two things the SDK does not do. It takes a stream that simply ends for a complete answer, so here
an answer counts only when its terminal event came. And it repairs the arguments of a call that was
cut off, so here they are kept as they were streamed and read strictly; what is no JSON object is
handed on as `{"__unparsedToolInput": text}`, which nothing runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, Protocol

import msgspec

from harness.agent.asking import client_for, failures
from harness.agent.blocks import read_block, write_message
from harness.agent.failures import SYNTHETIC, ModelFailure, classify, classify_answer
from harness.agent.guards.empty_input import UNPARSED
from harness.agent.retry_after import within_reason
from harness.agent.silence import impatient, watched
from harness.agent.text import clean, clean_json
from harness.core.values.calls import Purpose
from harness.core.values.messages import Block, Message, ToolSpec, ToolUse

MODEL = "claude-sonnet-5"
MAX_TOKENS = 4096
SYSTEM = (
    "You are a helpful assistant. Use the tools you are given. When something failed, say so; "
    "never claim that a failed action was done."
)


class Query(msgspec.Struct, frozen=True):
    """One request. Tools that are withdrawn stay listed, for the history has calls of them and the
    prompt's beginning must not change; the model may not use them. With `timeout_s` it is one try
    without a stream, for pings would keep a stream alive for ever."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    tools_withdrawn: bool = False
    purpose: Purpose = "main"
    system: str = SYSTEM
    timeout_s: float | None = None


class Answer(msgspec.Struct, frozen=True):
    """A whole answer: the assistant message, why the model stopped, and what it says that request
    and answer cost in tokens; 0 where it does not say."""

    message: Message
    stop: str
    tokens: int = 0


class Model(Protocol):
    """Answers queries. `show` is given text as it arrives.

    Raises ModelFailure.
    """

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> Answer:
        """The model's answer."""
        ...


class AnthropicModel:
    """A model behind an `anthropic.Anthropic` client, streamed or not."""

    patient = staticmethod(within_reason)
    watched = staticmethod(watched)

    def __init__(
        self, client: Any, stream: bool, model: str = MODEL, max_tokens: int = MAX_TOKENS
    ) -> None:
        self._client, self._stream = self.patient(impatient(client)), stream
        self._settings = {"model": model, "max_tokens": max_tokens}

    def query(self, query: Query, show: Callable[[str], None] | None = None) -> Answer:
        """The model's answer.

        Raises ModelFailure, for whatever the SDK, the HTTP library or odd bytes raise.
        """
        ask = self._streamed if self._stream and query.timeout_s is None else self._plain
        client = client_for(self._client, query.timeout_s)
        with failures(classify):
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
    ) -> Answer:
        message = messages.create(**params)
        if getattr(message, "content", None) is None:
            raise _unusable(message)
        if message.stop_reason is None:
            raise ModelFailure("broken_stream", "the answer does not say why it ended")
        _refuse_synthetic(message)
        blocks = [read_block(block.to_dict()) for block in message.content]
        answer = answer_of(blocks, message.stop_reason, _tokens(message))
        if show is not None and answer.message.text:
            show(answer.message.text)
        return answer

    def _streamed(
        self, messages: Any, params: dict[str, Any], show: Callable[[str], None] | None
    ) -> Answer:
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
        _refuse_synthetic(message)
        blocks = [read_block(block.to_dict()) for block in message.content]
        return answer_of(_as_streamed(blocks, inputs), message.stop_reason, _tokens(message))


def _events(stream: Any) -> Iterator[Any]:
    """The events of a stream. The SDK trips over one without a field that it needs."""
    try:
        yield from stream
    except (AttributeError, TypeError) as error:
        raise ModelFailure("broken_stream", f"an event could not be read: {error}") from error


def _take_delta(event: Any, inputs: dict[int, str], show: Callable[[str], None] | None) -> None:
    if event.delta.type == "input_json_delta":
        inputs[event.index] = inputs.get(event.index, "") + event.delta.partial_json
    elif event.delta.type == "text_delta" and show is not None:
        show(clean(event.delta.text))


def _as_streamed(blocks: list[Block], inputs: dict[int, str]) -> list[Block]:
    """The blocks with their calls' arguments read from the text that was streamed."""
    for index, text in inputs.items():
        block = blocks[index]
        if isinstance(block, ToolUse) and text:
            blocks[index] = msgspec.structs.replace(block, input=arguments_of(text))
    return blocks


def arguments_of(text: str) -> dict[str, Any]:
    """Arguments as they were streamed: `null` is none; what else is no JSON object is wrapped."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return {UNPARSED: text}
    if value is None:
        return {}
    return value if isinstance(value, dict) else {UNPARSED: text}


def _no_constant(name: str) -> NoReturn:
    """Python reads NaN and the infinities, which are no JSON and which nobody else reads."""
    raise ValueError(name)


def answer_of(blocks: Sequence[Block], stop: str, tokens: int | None = None) -> Answer:
    """The answer, without the halves of characters that nothing could store."""
    message = Message("assistant", tuple(map(_whole, blocks)))
    plain = clean_json(msgspec.to_builtins(message))
    return Answer(msgspec.convert(plain, type=Message), stop, tokens or 0)


def _whole(block: Block) -> Block:
    """A call whose arguments hold half a character is wrapped: made clean they would be others."""
    if isinstance(block, ToolUse) and clean_json(block.input) != block.input:
        return msgspec.structs.replace(block, input={UNPARSED: json.dumps(block.input)})
    return block


def _refuse_synthetic(message: Any) -> None:
    """Raise ModelFailure for a message that no model wrote."""
    text = "\n".join(block.text for block in message.content if block.type == "text")
    kind = classify_answer(message.model, _tokens(message), text)
    if kind is not None:
        raise ModelFailure(kind, text)


def _tokens(message: Any) -> int | None:
    """What a message says that it cost; None where it does not say."""
    usage = getattr(message, "usage", None)
    counts = [getattr(usage, name, None) for name in _COUNTS]
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None


_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


def _unusable(message: Any) -> ModelFailure:
    """A 200 that holds no message: a page of HTML (a str), or an error in a success's clothes."""
    text = str(message if isinstance(message, str) else message.to_dict())[:500]
    kind = classify(ValueError(text)) or "broken_stream"
    return ModelFailure(kind, text)
