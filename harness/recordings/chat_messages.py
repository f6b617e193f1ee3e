"""A list of messages of any writer, or what holds one, as a transcript.

Block kinds tell the API; the default is OpenAI's chat, which frameworks write too. LangGraph
lists the declared tools among the messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import dropwhile
from operator import is_

import msgspec

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Block, Json, Message, ToolResult, ToolSpec, ToolUse
from harness.providers.openai_chat.framework_messages import (
    is_message,
    is_of_framework,
    recorded_messages,
)
from harness.providers.openai_chat.record import RECORD as OPENAI_CHAT
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import encode
from harness.providers.shared.json_fields import RecordedApi
from harness.recordings.apis import APIS, api_of_message
from harness.recordings.transcripts import Transcript, answered_with, request_alone

LISTS = ("messages", "traj", "history", "contents", "conversation", "conversations", "input")
"""The names under which objects hold a list of messages, the first that fits."""

_REQUESTS = (
    "request", "request_body", "requestBody", "body", "params", "kwargs", "input", "inputs",
)  # fmt: skip
_RESPONSES = (
    "response", "response_body", "responseBody", "output", "outputs", "result", "completion",
)  # fmt: skip
"""The names under which the log of a gateway holds both sides of a call, the first that fits."""


def held_messages(value: Json) -> list[dict[str, Json]] | None:
    """The messages of a value, without items that are not objects; None when it has none."""
    if not isinstance(value, dict):
        return _listed(value)
    return _sides(value)[1]


def _sides(value: dict[str, Json]) -> tuple[dict[str, Json], list[dict[str, Json]] | None]:
    """The object that holds messages, and them: a chat itself, or both sides of a logged call."""
    if (held := _in_lists(value)) is not None:
        return value, held
    request = _request(value)
    answer = next((value[name] for name in _RESPONSES if name in value), None)
    return {**request, "response": _object(answer) or answer}, _in_lists(request)


def _in_lists(value: dict[str, Json]) -> list[dict[str, Json]] | None:
    lists = [value[name] for name in LISTS if name in value]
    if value.get("object") == "list":
        lists.append(_oldest_first(f.objects(value.get("data")) or []))
    return next((held for item in lists if (held := _listed(item)) is not None), None)


def _oldest_first(items: list[dict[str, Json]]) -> list[Json]:
    """The items of a page of OpenAI's API, whose default order begins with the newest."""
    kinds = [f.text(item.get("type")) for item in items]
    of_calls = [kind for kind in kinds if kind.endswith(("_call", "_call_output"))]
    begins, ends = (f.text(items[at].get("role")) if items else "" for at in (0, -1))
    is_newest = of_calls[0].endswith("_output") if of_calls else begins == "assistant" != ends
    return [*(items[::-1] if is_newest else items)]


def _request(value: dict[str, Json]) -> dict[str, Json]:
    """The request of a logged call; some logs keep it as a text."""
    return next(filter(None, (_object(value.get(name)) for name in _REQUESTS)), {})


def _object(value: Json) -> dict[str, Json]:
    is_text = isinstance(value, str) and value.startswith("{")
    return f.mapping(f.parse(value.encode()) if is_text else value)


def _listed(value: Json) -> list[dict[str, Json]] | None:
    match value:
        case [list() as value]:  # LangChain keeps a list of chats, of which a call has one
            pass
    messages = f.objects(value) or []
    said = dropwhile(lambda item: "call_id" in item, messages)  # a list may begin with a call
    return messages if is_message(next(said, {})) else None


def transcript_of(name: str, value: Json) -> Transcript | None:
    """The transcript of what holds a list of messages; None for what holds none.

    An object may say more: the model, the system prompt, declared tools, and a `response`.
    """
    value, held = _sides(value) if isinstance(value, dict) else ({}, _listed(value))
    if held is None:
        return None
    api = _api(held)
    said = [message for message in held if not _declared(message)]
    asked = api.request({**value, api.field: said})
    assert asked is not None, "the list of messages is there"
    tools = (*asked.tools, *(tool for message in held for tool in _declared(message)))
    messages = tuple(_with_ids(asked.messages))
    asked = msgspec.structs.replace(asked, messages=messages, tools=tools, stream=False)
    transcript = msgspec.structs.replace(request_alone(name, api.name, asked), loose=True)
    return with_answer(transcript, f.mapping(value.get("response")))


def _with_ids(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages, a result without an id with that of the oldest open call.

    Stores of chats leave it out, or name the tool only, where the calls have ids (as Ollama's
    clients do). No provider takes such a request, so the ids are the log's loss, not the agent's.
    """
    waiting: dict[str, None] = {}
    for message in messages:
        blocks = tuple(_with_id(block, waiting) for block in message.blocks)
        # Most logs have all ids, and their messages need no copy.
        same = all(map(is_, blocks, message.blocks))
        yield message if same else msgspec.structs.replace(message, blocks=blocks)


def _with_id(block: Block, waiting: dict[str, None]) -> Block:
    """The block with its id; `waiting` are the ids of the open calls, the oldest first."""
    if isinstance(block, ToolUse):
        waiting[block.id] = None
    elif isinstance(block, ToolResult):
        if not block.id and waiting:
            block = msgspec.structs.replace(block, id=next(iter(waiting)))
        waiting.pop(block.id, None)
    return block


def _api(held: list[dict[str, Json]]) -> RecordedApi:
    if any(map(is_of_framework, held)):
        return APIS[OPENAI_CHAT.name]
    own = (api for message in held if (api := api_of_message(message)))
    return next(own, APIS[OPENAI_CHAT.name])


def _declared(message: dict[str, Json]) -> tuple[ToolSpec, ...]:
    """The tool that a message of a list declares."""
    said = f.mapping(message.get("content")) if message.get("role") == "tool" else {}
    return (f.tool(f.mapping(said.get("function"))),) if said.get("type") == "function" else ()


def with_answer(transcript: Transcript, response: Json) -> Transcript:
    """The transcript with an answer of its model at the end; unchanged by any other body."""
    parsed = _parsed(transcript.wire, response)
    if parsed.message is None:
        return transcript
    model = transcript.model or f.text(f.mapping(response).get("model"))
    return msgspec.structs.replace(answered_with(transcript, parsed), model=model)


def _parsed(wire: str, response: Json) -> Parsed:
    said = f.mapping(response)
    told = (api for api in APIS.values() if api.answered_by and api.answered_by in said)
    if said:
        parsed = next(told, APIS[wire]).answer(encode(said), "application/json")
        if parsed.message is not None:
            return parsed
    stop = f.text(said.get("finish_reason")) or f.text(said.get("stop_reason"))
    return Parsed(_spoken(response), stop or None)


def _spoken(response: Json) -> Message | None:
    """The assistant's message in what a framework keeps as the output of a model."""
    if not isinstance(response, (dict, list)):
        return None
    content = f.mapping(f.mapping(response).get("content"))
    if (api := api_of_message(content)) is not None:
        return next(iter(api.messages([content])), None)
    inner = f.mapping(response).get("message")
    rows = (
        f.objects(response)
        or _in_lists(f.mapping(response))
        or [_with_role(f.mapping(inner) or f.mapping(response))]
    )
    if not any(map(is_message, rows)):
        return _of_parts(rows) if isinstance(response, list) else None
    said = [m for m in recorded_messages(filter(is_message, rows)) if m.role == "assistant"]
    return Message("assistant", tuple(b for m in said for b in m.blocks)) if said else None


def _with_role(row: dict[str, Json]) -> dict[str, Json]:
    """The output of a model as a message: many writers leave its role out."""
    says = isinstance(row.get("content"), str) or f.objects(row.get("tool_calls"))
    return {"role": "assistant", **row} if says and "role" not in row else row


def _of_parts(parts: list[dict[str, Json]]) -> Message | None:
    """The message of which an output keeps the parts alone, or its calls."""
    if not all("type" in part or "toolName" in part for part in parts):
        return None
    typed = [part if "type" in part else {"type": "tool-call", **part} for part in parts]
    return next(recorded_messages([{"role": "assistant", "content": typed}]), None)
