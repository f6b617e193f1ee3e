"""A streamed answer of Bedrock Converse: its events put together to the answer itself.

A block of text needs no start; an input is streamed as the text of its JSON.
Source: the API reference of Amazon Bedrock, ConverseStreamOutput.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.values.messages import Json
from harness.recordings.shapes import fields as f

_Parts = dict[str, list[str]]


def assembled(events: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """The answer that the events spell, as it is without streaming; an exception is an error."""
    starts: dict[int, dict[str, Json]] = {}
    parts: dict[int, _Parts] = {}
    stop: Json = None
    begun = False
    for name, value in events:
        value = f.mapping(value)
        index = f.whole(value.get("contentBlockIndex")) or 0
        if name == "messageStart":
            begun = True
        elif name == "contentBlockStart":
            starts[index] = f.mapping(value.get("start"))
        elif name == "contentBlockDelta":
            _add(parts.setdefault(index, {}), f.mapping(value.get("delta")))
        elif name == "messageStop":
            stop = value.get("stopReason")
        elif name.endswith("Exception"):
            return {"__type": name, "message": f.text(value.get("message")) or name}
    if not begun:
        return {}
    content = [_block(starts.get(n, {}), parts.get(n, {})) for n in sorted({*starts, *parts})]
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop}


def _add(parts: _Parts, delta: dict[str, Json]) -> None:
    """Add a delta to what came of its block."""
    call, thought = f.mapping(delta.get("toolUse")), f.mapping(delta.get("reasoningContent"))
    said = {
        "text": delta.get("text"),
        "input": call.get("input"),
        "thought": thought.get("text"),
        "signature": thought.get("signature"),
    }
    for name, part in said.items():
        if isinstance(part, str):
            parts.setdefault(name, []).append(part)


def _block(start: dict[str, Json], parts: _Parts) -> dict[str, Json]:
    said = {name: "".join(came) for name, came in parts.items()}
    if "toolUse" in start:
        given = f.arguments(said.get("input", "")) or {}
        return {"toolUse": {**f.mapping(start["toolUse"]), "input": given}}
    if "thought" in said or "signature" in said:
        thought = {"text": said.get("thought", ""), "signature": said.get("signature", "")}
        return {"reasoningContent": {"reasoningText": thought}}
    return {"text": said["text"]} if "text" in said else start
