"""Contents and parts: the API's and the core's values, both ways.

Fields come in camel case or with underscores. A part with `thought` is `Thinking`; a part that we
do not interpret is `Opaque`. A signature of a call or a text stays in its `extra`. A result is the
text under `output`, `result` or `error` where that is all there is, else the JSON of the response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from harness.providers.shared import json_fields as f

SIGNATURE = "thoughtSignature"
ROLES = {"model": "assistant"}
"""The API's role for the core's; others are the same word."""

_SAID = ("output", "result")
_RESULT = frozenset({"error", *_SAID})


def snake(name: str) -> str:
    """A name with underscores in place of capitals."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def get(value: dict[str, Json], name: str) -> Json:
    """A field by its name in camel case or with underscores; None without it."""
    return value[name] if name in value else value.get(snake(name))


class CallIds(msgspec.Struct, frozen=True, gc=False):
    """Ids for calls without one: such a call is answered by its name, in order.

    `made` counts them, `open` are the names and ids of those without a result.
    """

    before: str = ""
    made: int = 0
    open: tuple[tuple[str, str], ...] = ()

    def named(self, blocks: Iterable[Block]) -> tuple[tuple[Block, ...], CallIds]:
        """The blocks with all ids, and what is open after them."""
        made, waiting, done = self.made, list(self.open), list[Block]()
        for block in blocks:
            if isinstance(block, ToolUse) and not block.id:
                made += 1
                id_ = f"{self.before}{block.name}#{made}"
                waiting.append((block.name, id_))
                block = msgspec.structs.replace(block, id=id_)
            elif isinstance(block, _UnnamedResult):
                found = next((pair for pair in waiting if pair[0] == block.name), None)
                if found is not None:
                    waiting.remove(found)
                id_ = found[1] if found else ""
                block = ToolResult(id_, block.content, block.is_error)
            done.append(block)
        return tuple(done), CallIds(self.before, made, tuple(waiting))


class _UnnamedResult(ToolResult, frozen=True, gc=False, tag="unnamed_result"):
    """A result that names its call's function alone."""

    name: str = ""


def blocks_of(parts: Iterable[dict[str, Json]]) -> tuple[Block, ...]:
    """The parts of a content as blocks; those without ids are to be `named`."""
    return tuple(map(_block, parts))


def _block(part: dict[str, Json]) -> Block:
    call, response = get(part, "functionCall"), get(part, "functionResponse")
    signature = f.text(get(part, SIGNATURE))
    extra: dict[str, Json] = {SIGNATURE: signature} if signature else {}
    if isinstance(call, dict):
        given = call.get("args")
        return ToolUse(f.identifier(call.get("id")), f.text(call.get("name")), given, extra)
    if isinstance(response, dict):
        return _result(response)
    if isinstance(part.get("text"), str):
        if part.get("thought") is True:
            return Thinking(part["text"], signature)
        return Text(part["text"], extra)
    if isinstance(get(part, "executableCode"), dict):
        return Opaque("executable_code", part)
    return Opaque(next(iter(part), ""), part)


def _result(response: dict[str, Json]) -> ToolResult:
    said = response.get("response")
    content, failed = f.result_content(said, {}), False
    if isinstance(said, dict):
        failed = "error" in said
        if len(said) == 1 and said.keys() <= _RESULT:
            (value,) = said.values()
            content = value if isinstance(value, str) else f.json_text(value)
    if id_ := f.identifier(response.get("id")):
        return ToolResult(id_, content, failed)
    return _UnnamedResult("", content, failed, f.text(response.get("name")))


def recorded_messages(contents: Iterable[dict[str, Json]]) -> Iterator[Message]:
    """Contents of a recording as messages, each with ids for its calls."""
    ids = CallIds()
    for content in contents:
        blocks, ids = ids.named(blocks_of(f.objects(parts_in(content))))
        yield Message(role_of(content), blocks)


def said_on(blocks: Iterable[Block]) -> list[Block]:
    """The blocks of an answer, whose text goes on where the text part before it ended.

    A client may keep each chunk's part of a stream: `text` of google-genai joins them with nothing.
    """
    whole: list[Block] = []
    for block in blocks:
        match whole[-1] if whole else None, block:
            case Text(before, extra), Text(text, new):
                whole[-1] = Text(before + text, {**extra, **new})
            case Thinking(before, signature), Thinking(text, new_signature):
                whole[-1] = Thinking(before + text, signature or new_signature)
            case _:
                whole.append(block)
    return whole


def role_of(content: dict[str, Json]) -> str:
    """The core's role of a content; one without a role is the user's."""
    role = f.text(content.get("role")) or "user"
    return ROLES.get(role, role)


def parts_in(content: dict[str, Json]) -> Json:
    """The parts of a content; a single one may stand without a list."""
    parts = content.get("parts")
    return [parts] if isinstance(parts, dict) else parts


def part_to(block: Block) -> dict[str, Json]:
    """A block as a part of an answer."""
    match block:
        case Text(text, extra):
            return {"text": text, **extra}
        case Thinking(text, signature):
            signed = {SIGNATURE: signature} if signature else {}
            return {"text": text, "thought": True, **signed}
        case ToolUse(id_, name, given, extra):
            return {"functionCall": {"name": name, "args": given, "id": id_}, **extra}
        case Opaque(_, value):
            return value
    return {"functionResponse": {"id": block.id, "name": "", "response": {"output": block.text}}}
