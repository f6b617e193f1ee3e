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
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.chat_messages import LISTS, held_messages, transcript_of
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import Notes, SizeBound, entries, first_objects
from harness.recordings.transcripts import Recording, Refusal, Transcript


def _is_chat(data: bytes) -> bool:
    value = json_documents.peek(data, b'"role"' if b'"role"' in data else b'"content"')
    return any(held_messages(item) is not None for _, item in _items(value))


@recognised_by(_is_chat, fits_others=True)
def chat_json(document: bytes) -> Recording:
    """chat messages as JSON.

    An object without a chat is a refusal; raises InputError when there is no chat.
    """
    items = _items(json_documents.load(document))
    return _recording({name: transcript_of(name, item) for name, item in items})


def _begins_with_chat(data: bytes) -> bool:
    if not json_documents.is_lines(data):
        return False
    return any(held_messages(value) is not None for value in first_objects(data))


@recognised_by(_begins_with_chat, fits_others=True)
def chat_lines(lines: Iterable[bytes]) -> Recording:
    """chat messages as JSON Lines.

    Raises InputError when no line holds a chat.
    """
    notes, kept = Notes(), SizeBound()
    found: dict[str, Transcript | None] = {}
    for entry in entries(lines, notes):
        kept.add(entry)
        name = f"line {entry.number}"
        found[name] = transcript_of(name, entry.value)
    return msgspec.structs.replace(_recording(found), notes=notes.texts())


def _recording(found: dict[str, Transcript | None]) -> Recording:
    transcripts = tuple(transcript for transcript in found.values() if transcript)
    if not transcripts:
        raise InputError(f"no list of messages, nor an object with {', '.join(LISTS)}", "line 1")
    missing = (name for name, transcript in found.items() if transcript is None)
    refusals = tuple(Refusal(name, "holds no list of messages") for name in missing)
    return Recording(transcripts, refusals)


def _items(value: Json) -> Iterator[tuple[str, Json]]:
    """The value itself when it is a chat, else the items of a list, with their names.

    Benchmarks keep a head beside the list of their runs (tau2-bench: `simulations`).
    """
    if held_messages(value) is not None or not isinstance(value, (list, dict)):
        yield "messages", value
        return
    lists = {"item": value} if isinstance(value, list) else _lists_of_chats(value)
    if not lists:
        yield "messages", value
    for name, items in lists.items():
        for number, item in enumerate(items, start=1):
            yield f"{name} {number}", item


def _lists_of_chats(value: dict[str, Json]) -> dict[str, list[Json]]:
    lists = {name: f.listed(items) for name, items in value.items()}
    return {name: items for name, items in lists.items() if held_messages(next(iter(items), None))}
