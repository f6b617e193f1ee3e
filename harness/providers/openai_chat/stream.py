"""A completion as the chunks of a stream.

Chunks have no event name. The role comes first, then text, then calls; later pieces of a call have
its index alone. An empty delta has the stop reason. A chunk without choices has the usage, if
requested; `[DONE]` is last. Cuts fall between characters. With Azure's filter, its results of the
prompt come before all, and those of the reply stand in each choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from harness.core.values.messages import Json
from harness.providers.openai_chat.blocks import ARGUMENTS, TEXTS
from harness.providers.openai_chat.content_filters import PROMPT, REPLY, is_filtered
from harness.providers.shared.codec import encode
from harness.providers.shared.sse import pieces

DONE = b"data: [DONE]\n\n"
_CHOICE = b',"choices":[{"index":0,"delta":'
_REASON = b',"logprobs":null,"finish_reason":'
_USAGE = b'%b,"choices":[],"usage":%b}\n\n'
_LATER = ("tool_calls", "function_call")


def chunks(completion: dict[str, Json], *, with_usage: bool) -> list[bytes]:
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
    if PROMPT in completion:
        frames.insert(0, _filtered(completion[PROMPT]))
    if with_usage:
        frames.append(_USAGE % (head, encode(completion["usage"])))
    return [*frames, DONE]


def _noted(choice: dict[str, Json], count: int) -> Iterator[bytes]:
    """What the filter says at the end of each of a given number of chunks; nothing where it is not
    asked."""
    if REPLY not in choice:
        yield from repeat(b"", count)
        return
    last = choice[REPLY] if is_filtered(choice) else {}
    for found in ({}, *repeat(choice[REPLY], count - 2), last):
        yield b',"%b":%b' % (REPLY.encode(), encode(found))


def _filtered(found: Json) -> bytes:
    """The chunk of the prompt's results, which has neither an id nor choices."""
    unnamed = {"id": "", "object": "", "created": 0, "model": ""}
    return b"data: " + encode({**unnamed, "choices": [], PROMPT: found}) + b"\n\n"


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
        for piece in _cut(legacy.get("arguments")):
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
    for piece in _cut(text):
        yield {kind: {name: piece}}


def _cut(text: Json) -> list[str]:
    return pieces(text) if isinstance(text, str) else []
