"""Chats as JSON: a list of messages, or objects that hold one, of any writer.

Benchmarks keep one object a run (tau-bench: `traj`). OpenHands and litellm keep one a request, with
declared tools and the answer as `response`. Training sets and gateway logs keep one a line, and a
torn line loses only itself. Block kinds tell the API; the default is OpenAI's chat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.openai_chat.record import RECORD as OPENAI_CHAT
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import encode
from harness.recordings import json_documents
from harness.recordings.apis import APIS, api_of_message
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import Notes, SizeBound, entries, first_objects
from harness.recordings.transcripts import Recording, Refusal, Transcript, encodable

LISTS = ("messages", "traj", "history", "contents", "conversation", "input")
"""The names under which objects hold a list of messages, the first that fits."""


def _is_chat(data: bytes) -> bool:
    value = json_documents.peek(data, b'"role"')
    return any(_held(item) is not None for _, item in _items(value))


@recognised_by(_is_chat)
def chat_json(document: bytes) -> Recording:
    """chat messages as JSON.

    An object without a chat is a refusal; raises InputError when there is no chat.
    """
    items = _items(json_documents.load(document))
    return _recording({name: _transcript(name, item) for name, item in items})


def _begins_with_chat(data: bytes) -> bool:
    if not json_documents.is_lines(data):
        return False
    return any(_transcript("", value) for value in first_objects(data)[:1])


@recognised_by(_begins_with_chat)
def chat_lines(lines: Iterable[bytes]) -> Recording:
    """chat messages as JSON Lines.

    Raises InputError when no line holds a chat.
    """
    notes, kept = Notes(), SizeBound()
    found: dict[str, Transcript | None] = {}
    for entry in entries(lines, notes):
        kept.add(entry)
        name = f"line {entry.number}"
        found[name] = _transcript(name, entry.value)
    return msgspec.structs.replace(_recording(found), notes=notes.texts())


def _recording(found: dict[str, Transcript | None]) -> Recording:
    transcripts = tuple(transcript for transcript in found.values() if transcript)
    if not transcripts:
        raise InputError(f"no list of messages, nor an object with {', '.join(LISTS)}", "line 1")
    missing = (name for name, transcript in found.items() if transcript is None)
    refusals = tuple(Refusal(name, "holds no list of messages") for name in missing)
    return Recording(transcripts, refusals)


def _items(value: Json) -> Iterator[tuple[str, Json]]:
    """The value itself when it is a chat, else the items of a list, with their names."""
    if not isinstance(value, list) or _held(value) is not None:
        yield "messages", value
        return
    for number, item in enumerate(value, start=1):
        yield f"item {number}", item


def _held(value: Json) -> list[dict[str, Json]] | None:
    """The messages of a value, without items that are no objects; None when it has none."""
    if isinstance(value, dict):
        lists = (value[name] for name in LISTS if name in value)
        return next((held for item in lists if (held := _held_list(item)) is not None), None)
    return _held_list(value)


def _held_list(value: Json) -> list[dict[str, Json]] | None:
    messages = f.objects(value)
    return messages if messages and json_documents.is_message(messages[0]) else None


def _transcript(name: str, value: Json) -> Transcript | None:
    held = _held(value)
    if held is None:
        return None
    value = f.mapping(value)
    own = (api for message in held if (api := api_of_message(message)))
    api = next(own, APIS[OPENAI_CHAT.name])
    asked = api.request({**value, api.field: held})
    assert asked is not None, "the list of messages is there"
    transcript = Transcript(
        name=name,
        messages=encodable(asked.messages),
        wire=api.name,
        model=asked.model,
        system=asked.system,
        tools=asked.tools,
        stateful=asked.stateful,
        max_tokens=asked.max_tokens,
    )
    return _with_answer(transcript, f.mapping(value.get("response")))


def _with_answer(transcript: Transcript, response: dict[str, Json]) -> Transcript:
    told = (a for a in APIS.values() if a.answered_by and a.answered_by in response)
    api = next(told, APIS[transcript.wire])
    parsed = api.answer(encode(response), "application/json")
    if parsed.message is None:
        return transcript
    return msgspec.structs.replace(
        transcript,
        messages=(*transcript.messages, *encodable((parsed.message,))),
        stops={len(transcript.messages): parsed.stop} if parsed.stop else {},
        model=transcript.model or f.text(response.get("model")),
        exchange=True,
        answered=True,
        complete=parsed.complete,
    )
