"""A cassette as a separate scenario: the recording supplies the user's texts and tool results.

New text of the user becomes an inbox message; a new tool result becomes an answer of the tool.
Messages before the first question are the initial session. Where requests continue each other, one
that starts again is the agent's own (a compaction, a title). A text that repeats earlier text, or
the model's answer, is the agent's too. The model is the cassette, and all checks apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import PurePath
from typing import Literal

import msgspec

from harness import providers
from harness.cassettes.request_index import CassetteIndex, IndexedCall
from harness.core.history.exchanges import Node
from harness.core.scenario.scenario import (
    CassetteScript,
    InboxItem,
    Limits,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    ToolTurn,
)
from harness.core.values.errors import InputError
from harness.core.values.messages import Block, Json, Message, Text, ToolResult, digest, side

_NAME_LETTERS = 80
_RETOLD_LETTERS = 40
"""A text of at least this length that stands in another one is a repetition of it."""

_ROOM = 20
"""An agent may make this number of calls more than were recorded before a limit ends the run."""


def scenario_of_cassette(
    index: CassetteIndex, path: PurePath, wire: str, name: str = ""
) -> Scenario:
    """The scenario that plays a cassette: `index` holds the calls of the file `path` on `wire`.

    `name` is by default the file's, in kebab case.
    """
    first = index.entries[0]
    if not first.node.tail():
        raise InputError("the first recorded request has no messages", str(path))
    before, added = _nodes(index.entries)
    tools = _tools(index.entries, [node.message for node in (*before, *added)])
    calls = sum(len(tool.script) for tool in tools.values())
    usual = Limits()
    return Scenario(
        name=name or kebab(path.name.partition(".")[0]),
        title=f"The recording {path.name}",
        wire=wire,
        stream=first.head.stream,
        session=Session(messages=tuple(_seed(node.message) for node in before)),
        tools=tools,
        inbox=tuple(_inbox(before, added, index.entries, wire)),
        script=CassetteScript(cassette=str(path)),
        limits=Limits(
            model_calls=max(usual.model_calls, len(index.entries) + _ROOM),
            turn_calls=max(usual.turn_calls, len(index.entries) + _ROOM),
            tool_calls=max(usual.tool_calls, calls + _ROOM),
        ),
    )


def kebab(text: str) -> str:
    """A text as a name in kebab case; one that is too long ends in its digest."""
    name = "-".join(re.findall(r"[a-z0-9]+", text.lower())) or "cassette"
    if len(name) <= _NAME_LETTERS:
        return name
    return f"{name[:_NAME_LETTERS].rstrip('-')}-{digest(text)[:8]}"


def _nodes(entries: Sequence[IndexedCall]) -> tuple[list[Node], list[Node]]:
    """Messages before the first question, then each later message once, in order."""
    path = entries[0].node.tail()
    asked = max((n for n, node in enumerate(path) if _is_question(node.message)), default=0)
    added, seen = list(path[asked:]), set(path)
    for entry in entries[1:]:
        fresh: list[Node] = []
        node: Node | None = entry.node
        while node is not None and node.depth and node not in seen:
            fresh.append(node)
            node = node.parent
        seen.update(fresh)
        added += reversed(fresh)
    return [node for node in path[:asked] if node.side in ("user", "assistant")], added


def _begins_anew(entries: Sequence[IndexedCall]) -> bool:
    """Whether no request continues another, so that each is a separate question."""
    places = {entry.node for entry in entries}
    return not any(places & set(entry.node.tail()[:-1]) for entry in entries)


def _is_question(message: Message) -> bool:
    return side(message) == "user" and not any(isinstance(b, ToolResult) for b in message.blocks)


def _inbox(
    before: Sequence[Node], nodes: Sequence[Node], entries: Sequence[IndexedCall], wire: str
) -> Iterator[InboxItem]:
    """The user's texts, of the first conversation only where requests continue others."""
    first, roots = nodes[0].tail()[0], _begins_anew(entries)
    asked = [n for n in nodes if _is_question(n.message) and (roots or n.tail()[0] is first)]
    said = [node.message.text for node in before] + _answers(entries, wire)
    lines = [line for text in said for line in text.splitlines()]
    texts: list[str] = []
    for node in asked:
        text = _new_text(node, asked)
        told = (old for old in (*lines, *texts) if len(old) >= _RETOLD_LETTERS)
        if text and not (roots and texts and any(old in text for old in told)):
            texts.append(text)
    for number, text in enumerate(texts, start=1):
        yield InboxItem(id=f"m{number}", text=text)


def _answers(entries: Sequence[IndexedCall], wire: str) -> list[str]:
    parse = providers.by_name(wire).parse
    kinds = ((e.answer.body, e.answer.headers.get("content-type", "")) for e in entries)
    return [said.text for body, kind in kinds if (said := parse(body, kind).message)]


def _new_text(node: Node, asked: Sequence[Node]) -> str:
    """Only the new end of a question that repeats an earlier one in its place."""
    text = node.message.text
    earlier = takewhile(lambda other: other is not node, asked)
    places = (other.message.text for other in earlier if other.parent is node.parent)
    known = max((old for old in places if text.startswith(old)), key=len, default="")
    return (text.removeprefix(known).strip() if known else text) or text


def _tools(entries: Sequence[IndexedCall], messages: Sequence[Message]) -> dict[str, ToolScript]:
    results = {b.id: b for m in messages for b in m.blocks if isinstance(b, ToolResult)}
    turns: dict[str, list[ToolTurn]] = {}
    for use in (use for message in messages for use in message.tool_uses):
        given = turns.setdefault(use.name, [])
        if use.id in results:
            given.append(_turn(results.pop(use.id)))
    heads = {entry.name: entry.head for entry in reversed(entries)}
    offered = {tool["name"]: tool for head in heads.values() for tool in head.tools}
    return {
        name: ToolScript(**_offer(offered.get(name, {})), script=tuple(turns.get(name, ())))
        for name in {**offered, **turns}
    }


def _offer(tool: dict[str, Json]) -> dict[str, Json]:
    schema = tool.get("input_schema")
    described = {"description": tool.get("description") or ""}
    return described | ({"input_schema": schema} if isinstance(schema, dict) else {})


def _turn(result: ToolResult) -> ToolTurn:
    if result.is_error:
        return ToolTurn(error=result.text)
    if isinstance(result.content, str):
        return ToolTurn(ok=result.content)
    return ToolTurn(ok=[_block(block) for block in result.content])


def _seed(message: Message) -> SeedMessage:
    role: Literal["user", "assistant"] = "assistant" if message.role == "assistant" else "user"
    plain = len(message.blocks) == 1 and isinstance(message.blocks[0], Text)
    return SeedMessage(
        role=role, content=message.text if plain else tuple(_block(b) for b in message.blocks)
    )


def _block(block: Block) -> Json:
    said = msgspec.to_builtins(block)
    return said["value"] if said["type"] == "opaque" else said
