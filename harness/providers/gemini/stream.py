"""An answer as the chunks of a stream.

Each chunk is a separate answer, with the parts that are new. A call comes whole. The last chunk
says why the answer stops, with the whole usage. Source: recorded streams of Gemini 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.messages import Json
from harness.providers.shared.codec import encode
from harness.providers.shared.sse import PIECES_MAX

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
        size = max(PIECE_CHARACTERS, -(-len(text) // PIECES_MAX))
        first, *others = [text[at : at + size] for at in range(0, len(text), size)] or [""]
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
