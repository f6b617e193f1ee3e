"""Sessions of Gemini CLI: one object that holds all messages, or lines that each add one.

A message of the model holds its calls together with their results; the model saw these in a message
after it. On lines, a message with a known id replaces that one. `$rewindTo` takes back a message
and all after it; `$set` may replace all. `info` and `warning` are for the screen alone. Source:
google-gemini/gemini-cli, packages/core/src/services/chatRecordingService.ts, and files up to
version 0.61.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.providers.gemini.blocks import recorded_messages
from harness.providers.gemini.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import Notes, entries, first_objects, logged_error, split
from harness.recordings.transcripts import Recording, Transcript

_HEADER = frozenset({"sessionId", "projectHash"})
_MODEL = ("gemini", "model")
_TYPES = frozenset({"user", *_MODEL, "info", "error", "warning"})
_FAILED = "[API Error"
"""How the program begins what it shows in place of an answer that failed."""

_Object = dict[str, Json]


def _is_gemini_cli(data: bytes) -> bool:
    first = next(first_objects(data), {})
    if first.keys() >= _HEADER and "type" not in first:
        return True
    whole = f.mapping(json_documents.peek(data, b'"sessionId"', b'"messages"'))
    said = next(iter(f.objects(whole.get("messages"))), {})
    is_said = "role" not in said and not said.keys().isdisjoint(("content", "parts"))
    return is_said and f.text(said.get("type")) in _TYPES


@recognised_by(_is_gemini_cli)
def gemini_cli(document: bytes) -> Recording:
    """Gemini CLI session.

    A torn line is skipped and noted. Raises InputError when no message is there, and for JSON that
    is torn.
    """
    notes = Notes()
    if json_documents.is_lines(document):
        session = _of_lines(document, notes)
    else:
        session = f.mapping(json_documents.load(document))
    contents = _Contents(f.objects(session.get("messages")))
    if not contents.found:
        raise notes.refusal("no message is in the session")
    return notes.on(Recording((contents.transcript(f.text(session.get("sessionId"))),)))


def _of_lines(data: bytes, notes: Notes) -> _Object:
    """The object that the lines make up."""
    session: _Object = {}
    messages: dict[str, _Object] = {}
    for entry in entries(split(data), notes):
        value, id_ = entry.value, f.text(entry.value.get("id"))
        changed = f.mapping(value.get("$set"))
        if "$rewindTo" in value:
            _rewind(messages, f.text(value["$rewindTo"]))
        elif id_:
            messages[id_] = value
        elif "messages" in changed:
            messages = {f.text(said.get("id")): said for said in f.objects(changed["messages"])}
        else:
            session |= value
    return {**session, "messages": list(messages.values())}


def _rewind(messages: dict[str, _Object], to: str) -> None:
    """Forget a message and what follows; all of them where it is not there, as the program does."""
    names = list(messages)
    for name in names[names.index(to) if to in messages else 0 :]:
        del messages[name]


class _Contents:
    """What the model saw of a session, and what the program showed in place of an answer."""

    def __init__(self, messages: Iterable[_Object]) -> None:
        self.found: list[_Object] = []
        self._failures: dict[int, ApiError] = {}
        self._model = ""
        for message in messages:
            self._take(message)

    def _take(self, message: _Object) -> None:
        kind, parts = f.text(message.get("type")), _parts(message)
        if kind == "user":
            self._add("user", parts)
        elif kind in _MODEL:
            self._model = self._model or f.text(message.get("model"))
            calls = f.objects(message.get("toolCalls"))
            self._add("model", [*_thoughts(message), *parts, *map(_call, calls)])
            self._add("user", [part for call in calls for part in _results(call)])
        elif kind == "error" and f.text(message.get("content")).startswith(_FAILED):
            self._failures[len(self.found)] = logged_error(f.text(message.get("content")))
            self._add("model", parts)

    def _add(self, role: str, parts: list[_Object]) -> None:
        if parts:
            self.found.append({"role": role, "parts": parts})

    def transcript(self, name: str) -> Transcript:
        return Transcript(
            name=name or "session",
            messages=tuple(recorded_messages(self.found)),
            wire=RECORD.name,
            model=self._model,
            failures=self._failures,
        )


def _parts(message: _Object) -> list[_Object]:
    """The parts of a message; a text may stand alone, and a part may be one of Anthropic's form."""
    content = message.get("content") or message.get("parts")
    if isinstance(content, str):
        return [{"text": content}]
    made = (
        {"text": part} if isinstance(part, str) else f.mapping(part) for part in f.listed(content)
    )
    return [_typed(part) for part in made if part]


def _typed(part: _Object) -> _Object:
    kind = f.text(part.get("type"))
    if kind == "text":
        return {"text": part.get("text")}
    return {kind: part} if kind else part


def _thoughts(message: _Object) -> Iterator[_Object]:
    for thought in f.objects(message.get("thoughts")):
        words = (f.text(thought.get(name)) for name in ("subject", "description"))
        yield {"text": " ".join(filter(None, words)), "thought": True}


def _call(call: _Object) -> _Object:
    return {"functionCall": {name: call.get(name) for name in ("id", "name", "args")}}


def _results(call: _Object) -> list[_Object]:
    """The results of a call; what was shown of it where the program kept no more."""
    kept = call.get("result") or call.get("resultDisplay")
    if isinstance(kept, list):
        return f.objects(kept)
    if not isinstance(kept, str):
        return [kept] if isinstance(kept, dict) and "functionResponse" in kept else []
    named = {name: call.get(name) for name in ("id", "name")}
    key = "error" if call.get("status") == "error" else "output"
    return [{"functionResponse": {**named, "response": {key: kept}}}]
