"""Answers: a value to the bytes of a response, plain or streamed.

The official SDK reads the header `x-request-id`. It holds the same random name as the completion's
id. Rate limits are those of an account with this one request. A reset is a duration, such as `6ms`.
"""

from __future__ import annotations

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Block, Json, Message, Text
from harness.core.values.plans import ApiError, Head, Recorded, Reply, Send
from harness.providers.openai_chat.blocks import is_part, message_to
from harness.providers.openai_chat.content_filters import with_filter_results
from harness.providers.openai_chat.errors import envelope, own
from harness.providers.openai_chat.record import RECORD
from harness.providers.openai_chat.request import OpenAIChatReading
from harness.providers.openai_chat.stream import chunks
from harness.providers.shared.codec import encode, tokens
from harness.providers.shared.json_fields import mapping

JSON = "application/json"
EVENT_STREAM = "text/event-stream; charset=utf-8"
REQUESTS_LIMIT, TOKENS_LIMIT = 10_000, 2_000_000


def _head(kind: str, id_: str, tokens: int) -> dict[str, str]:
    return {
        "content-type": kind,
        "x-request-id": id_,
        "openai-version": "2020-10-01",
        "x-ratelimit-limit-requests": f"{REQUESTS_LIMIT}",
        "x-ratelimit-limit-tokens": f"{TOKENS_LIMIT}",
        "x-ratelimit-remaining-requests": f"{REQUESTS_LIMIT - 1}",
        "x-ratelimit-remaining-tokens": f"{max(0, TOKENS_LIMIT - tokens)}",
        "x-ratelimit-reset-requests": "6ms",
        "x-ratelimit-reset-tokens": "0s",
    }


CREATED_S = 1_767_225_600
"""2026-01-01, UTC. It is constant, so that equal runs have equal bytes."""


def write(
    value: Reply | ApiError | Recorded, reading: Reading, key: str, draws: Draws
) -> tuple[Send, ...]:
    """A value as the bytes of the answer to the request `reading` of the call `key`."""
    if isinstance(value, Recorded):
        return (Send(value.body, Head(value.status, value.headers)),)
    name = draws.identifier("", key)
    id_ = f"req_{name}"
    if isinstance(value, ApiError):
        value = own(value)
        more = {name.lower(): said for name, said in value.headers.items()}
        head = Head(value.status, _head(JSON, id_, reading.tokens) | more)
        return (Send(encode(envelope(value)), head),)
    completion = _completion(value, reading, f"chatcmpl-{name}")
    if isinstance(reading, OpenAIChatReading) and reading.is_filtered:
        completion = with_filter_results(completion)
    if not reading.stream:
        return (Send(encode(completion), Head(200, _head(JSON, id_, reading.tokens))),)
    with_usage = mapping(reading.settings.get("stream_options")).get("include_usage") is True
    first, *others = chunks(completion, with_usage=with_usage)
    head = Head(200, _head(EVENT_STREAM, id_, reading.tokens))
    return (Send(first, head), *map(Send, others))


def _completion(reply: Reply, reading: Reading, id_: str) -> dict[str, Json]:
    said = message_to(sayable(reply.blocks))
    message = {"refusal": None, "annotations": [], **said, **reply.extra}
    reason = reply.stop and RECORD.written_stop(reply.stop)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return {
        "id": id_,
        "object": "chat.completion",
        "created": CREATED_S,
        "model": reading.model,
        "choices": [choice],
        "usage": _usage(reading.tokens, tokens(len(encode(message))), reply.usage),
        "service_tier": "default",
        "system_fingerprint": None,
    }


def sayable(blocks: tuple[Block, ...]) -> Message:
    """The answer in a form that this API has, where the content of an answer is one string.

    Several texts become one. Other parts of the content, such as pictures, are left out.
    """
    texts = [block.text for block in blocks if isinstance(block, Text)]
    others = [b for b in blocks if not is_part(b)]
    said: list[Block] = [Text("\n".join(texts))] if texts else []
    return Message("assistant", (*said, *others))


def _usage(prompt: int, completion: int, said: dict[str, Json]) -> dict[str, Json]:
    usage: dict[str, Json] = {"prompt_tokens": prompt, "completion_tokens": completion}
    usage |= {RECORD.usage_names.get(name, name): count for name, count in said.items()}
    counts = (usage["prompt_tokens"], usage["completion_tokens"])
    total = sum(count for count in counts if isinstance(count, int))
    return {"total_tokens": total, "prompt_tokens_details": {"cached_tokens": 0}, **usage}
