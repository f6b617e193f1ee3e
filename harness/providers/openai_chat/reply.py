"""Answers: a value to the bytes of a response, plain or streamed.

The official SDK reads the header `x-request-id`. It holds the same random name as the completion's
id. Rate limits are those of an account with this one request. A reset is a duration, such as `6ms`.

The chunks of a stream have no event name. The role comes first, then text, then calls; later pieces
of a call have its index alone. An empty delta has the stop reason. A chunk without choices has the
usage, if requested; `[DONE]` is last. Cuts fall between characters.

Azure's content filter notes what it found in the prompt and in the reply. A stream then begins with
a chunk that has the prompt's results and no choices. The first and the last chunk of a choice have
empty results, unless the filter ended the reply.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Block, Json, Message, Text
from harness.core.values.plans import ApiError, Head, Recorded, Reply, Send
from harness.providers.openai_chat.blocks import ARGUMENTS, TEXTS, is_part, message_to
from harness.providers.openai_chat.record import DONE, RECORD, envelope, own
from harness.providers.openai_chat.request import OpenAIChatReading
from harness.providers.shared.codec import encode, tokens
from harness.providers.shared.json_fields import mapping
from harness.providers.shared.sse import INPUT_CHARACTERS, PIECE_CHARACTERS, pieces

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
        completion = _with_filter_results(completion)
    if not reading.stream:
        return (Send(encode(completion), Head(200, _head(JSON, id_, reading.tokens))),)
    with_usage = mapping(reading.settings.get("stream_options")).get("include_usage") is True
    first, *others = _chunks(completion, with_usage=with_usage)
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
    counted = {"prompt_tokens": prompt, "completion_tokens": completion}
    usage, total = RECORD.written_usage(counted, said)
    return {"total_tokens": total, "prompt_tokens_details": {"cached_tokens": 0}, **usage}


_PROMPT, _REPLY = "prompt_filter_results", "content_filter_results"

_SAFE: dict[str, Json] = {"filtered": False, "severity": "safe"}
_HARMS = ("hate", "self_harm", "sexual", "violence")
_NOTHING: dict[str, Json] = dict.fromkeys(_HARMS, _SAFE)
_FOUND = {**_NOTHING, "violence": {"filtered": True, "severity": "high"}}
_JAILBREAK: dict[str, Json] = {"jailbreak": {"filtered": False, "detected": False}}


def _with_filter_results(completion: dict[str, Json]) -> dict[str, Json]:
    """A completion with what the filter says of it."""
    choice = completion["choices"][0]
    prompt = [{"prompt_index": 0, _REPLY: _NOTHING | _JAILBREAK}]
    choice = {**choice, _REPLY: _FOUND if _is_filtered(choice) else _NOTHING}
    return {**completion, "choices": [choice], _PROMPT: prompt}


def _is_filtered(choice: dict[str, Json]) -> bool:
    """Whether the filter ended the reply."""
    return bool(choice["finish_reason"] == "content_filter")


_CHOICE = b',"choices":[{"index":0,"delta":'
_REASON = b',"logprobs":null,"finish_reason":'
_USAGE = b'%b,"choices":[],"usage":%b}\n\n'
_LATER = ("tool_calls", "function_call")


def _chunks(completion: dict[str, Json], *, with_usage: bool) -> list[bytes]:
    """The frames of a whole completion, one for each chunk."""
    around = {name: completion[name] for name in ("id", "created", "model", "service_tier")}
    around |= {"object": "chat.completion.chunk", "system_fingerprint": None}
    head = b"data: " + encode(around)[:-1]
    end = b'}],"usage":null}\n\n' if with_usage else b"}]}\n\n"
    choice = completion["choices"][0]
    start = head + _CHOICE
    deltas = [b"".join((start, encode(d), _REASON, b"null")) for d in _deltas(choice["message"])]
    deltas.append(start + b"{}" + _REASON + encode(choice["finish_reason"]))
    frames = [
        b"".join(parts)
        for parts in zip(deltas, _noted(choice, len(deltas)), repeat(end), strict=False)
    ]
    if _PROMPT in completion:
        frames.insert(0, _filtered(completion[_PROMPT]))
    if with_usage:
        frames.append(_USAGE % (head, encode(completion["usage"])))
    return [*frames, DONE]


def _noted(choice: dict[str, Json], count: int) -> Iterator[bytes]:
    """What the filter says at the end of each of a given number of chunks; nothing where it is not
    asked."""
    if _REPLY not in choice:
        yield from repeat(b"", count)
        return
    last = choice[_REPLY] if _is_filtered(choice) else {}
    for found in ({}, *repeat(choice[_REPLY], count - 2), last):
        yield b',"%b":%b' % (_REPLY.encode(), encode(found))


def _filtered(found: Json) -> bytes:
    """The chunk of the prompt's results, which has neither an id nor choices."""
    unnamed = {"id": "", "object": "", "created": 0, "model": ""}
    return b"data: " + encode({**unnamed, "choices": [], _PROMPT: found}) + b"\n\n"


def _deltas(message: dict[str, Json]) -> Iterator[dict[str, Json]]:
    yield _begun(message)
    for name in TEXTS:
        for piece in _cut(message.get(name)):
            yield {name: piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        for fragment in _fragments(call):
            yield {"tool_calls": [{"index": index, **fragment}]}
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        yield {"function_call": {**legacy, "arguments": ""}}
        for piece in _cut(legacy.get("arguments"), INPUT_CHARACTERS):
            yield {"function_call": {"arguments": piece}}


def _begun(message: dict[str, Json]) -> dict[str, Json]:
    begun = {k: v for k, v in message.items() if k not in _LATER and v != []}
    return begun | {name: "" for name in TEXTS if isinstance(message.get(name), str)}


def _fragments(call: dict[str, Json]) -> Iterator[dict[str, Json]]:
    kind = "custom" if call.get("type") == "custom" else "function"
    said, name = call.get(kind), ARGUMENTS[kind]
    text = said.get(name) if isinstance(said, dict) else None
    if not isinstance(said, dict) or not isinstance(text, str):
        yield call
        return
    yield {**call, kind: {**said, name: ""}}
    for piece in _cut(text, INPUT_CHARACTERS):
        yield {kind: {name: piece}}


def _cut(text: Json, characters: int = PIECE_CHARACTERS) -> list[str]:
    return pieces(text, characters) if isinstance(text, str) else []
