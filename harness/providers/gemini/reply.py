"""Answers: a value to the bytes of a response, plain, as events, or as a list of chunks.

An empty refusal is a blocked prompt, which has no candidate. Nothing counts down in the headers:
the API says its limits in errors alone.

Each chunk of a stream is a separate answer, with the parts that are new. A call comes whole. The
last chunk says why the answer stops, with the whole usage. Source: recorded streams of Gemini 2 and
3.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, ToolUse
from harness.core.values.plans import ApiError, Facts, Head, Recorded, Reply, Send
from harness.providers.gemini.blocks import part_to
from harness.providers.gemini.record import LISTED, RECORD, envelope, own
from harness.providers.shared.codec import encode, tokens
from harness.providers.shared.sse import pieces

JSON = "application/json; charset=UTF-8"
EVENT_STREAM = "text/event-stream"
UNSENT_HEADERS = frozenset(
    {*dict(RECORD.headers.final), RECORD.headers.wait_ms, RECORD.headers.requests_left}
)
"""Headers of other providers: this one says in the body when to come back, and what is left."""


def _head(status: int, kind: str, more: dict[str, str] | None = None) -> Head:
    headers = {"content-type": kind, "server": "scaffolding on HTTPServer2"}
    return Head(status, headers | {k.lower(): v for k, v in (more or {}).items()})


def write(
    value: Reply | ApiError | Recorded, reading: Reading, key: str, draws: Draws
) -> tuple[Send, ...]:
    """A value as the bytes of the answer to the request `reading` of the call `key`."""
    if isinstance(value, Recorded):
        return (Send(value.body, Head(value.status, value.headers)),)
    as_list = reading.stream and reading.settings.get(LISTED) is True
    if isinstance(value, ApiError):
        return refused(value, as_list=as_list)
    answer = _answer(value, reading, draws.identifier("", key))
    if not reading.stream:
        return (Send(encode(answer), _head(200, JSON)),)
    first, *others = listed(answer) if as_list else events(answer)
    return (Send(first, _head(200, JSON if as_list else EVENT_STREAM)), *map(Send, others))


def write_facts(value: Facts | ApiError, key: str, draws: Draws) -> tuple[Send, ...]:
    """The answer to a question for facts (a count, a model) as bytes."""
    if isinstance(value, ApiError):
        return refused(value, as_list=False)
    return (Send(encode(value.body), _head(200, JSON)),)


def refused(error: ApiError, *, as_list: bool) -> tuple[Send, ...]:
    """An error; where the answer would be a list, it stands in one."""
    error = own(error)
    body: Json = envelope(error)
    headers = {k: v for k, v in error.headers.items() if k.lower() not in UNSENT_HEADERS}
    return (Send(encode([body] if as_list else body), _head(error.status, JSON, headers)),)


def _answer(reply: Reply, reading: Reading, id_: str) -> dict[str, Json]:
    parts = [part_to(block) for block in reply.blocks]
    answer: dict[str, Json] = {}
    if reply.stop == "refusal" and not parts:
        answer["promptFeedback"] = {"blockReason": "PROHIBITED_CONTENT"}
    else:
        content = {"parts": parts, "role": "model"} if parts else {"role": "model"}
        answer["candidates"] = [{"content": content, **_stop(reply), "index": 0}]
    answer["usageMetadata"] = _usage(reading.tokens, tokens(len(encode(parts))), reply.usage)
    return {**answer, "modelVersion": reading.model, "responseId": id_, **reply.extra}


def _stop(reply: Reply) -> dict[str, Json]:
    if reply.stop is None:
        return {}
    if reply.stop != "tool_use":
        return {"finishReason": RECORD.written_stop(reply.stop)}
    # `STOP` without a call ends a whole answer: a call that is not there has another reason.
    has_calls = any(isinstance(block, ToolUse) for block in reply.blocks)
    return {"finishReason": "STOP" if has_calls else "MALFORMED_FUNCTION_CALL"}


def _usage(prompt: int, said: int, told: dict[str, Json]) -> dict[str, Json]:
    counted = {"promptTokenCount": prompt, "candidatesTokenCount": said}
    usage, total = RECORD.written_usage(counted, told)
    details = [{"modality": "TEXT", "tokenCount": usage["promptTokenCount"]}]
    return {"totalTokenCount": total, "promptTokensDetails": details, **usage}


PIECE_CHARACTERS = 16
"""A chunk is short, so that an answer has several where a fault can strike."""

_PROMPT = ("promptTokenCount", "promptTokensDetails")


def chunks(answer: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """The chunks of a whole answer; one without candidates is one chunk."""
    candidates = answer.get("candidates")
    if not candidates:
        yield answer
        return
    (candidate,) = candidates
    beside = {name: value for name, value in answer.items() if name != "candidates"}
    usage = {name: value for name, value in answer["usageMetadata"].items() if name in _PROMPT}
    usage["totalTokenCount"] = usage.get("promptTokenCount", 0)
    for part in _parts(candidate["content"].get("parts", [])):
        content = {"parts": [part], "role": "model"}
        said = [{"content": content, "index": 0}]
        yield {"candidates": said, **beside, "usageMetadata": usage}
    last = {**candidate, "content": {"parts": [{"text": ""}], "role": "model"}}
    yield {"candidates": [last], **beside}


def _parts(parts: list[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    for part in parts:
        text = part.get("text")
        if not isinstance(text, str):
            yield part
            continue
        first, *others = pieces(text, PIECE_CHARACTERS) or [""]
        rest = {"thought": True} if part.get("thought") else {}
        yield {**part, "text": first}
        yield from ({"text": piece, **rest} for piece in others)


def events(answer: dict[str, Json]) -> list[bytes]:
    """The chunks as events; they have no names."""
    return [b"data: %b\r\n\r\n" % encode(chunk) for chunk in chunks(answer)]


def listed(answer: dict[str, Json]) -> list[bytes]:
    """The chunks as the pieces of one JSON list."""
    sent = [encode(chunk) for chunk in chunks(answer)]
    return [b"[" + sent[0], *(b",\r\n" + chunk for chunk in sent[1:]), b"\n]\n"]
