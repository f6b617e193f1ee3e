"""Sessions of Qwen Code: JSON Lines, a tree of entries in one file, messages in Gemini's form.

The conversation is the path to the last entry with a message; what a rewind left stays in the file.
Entries with one id are pieces of one message. A compression keeps the whole history that replaces
the one before it. Source: QwenLM/qwen-code, packages/core/src/services/chatRecordingService.ts, and
files of version 0.21.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.values.messages import Json
from harness.providers.gemini.blocks import recorded_messages
from harness.providers.gemini.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import session_log
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import LogEntry, Notes, SizeBound, first_objects, taken
from harness.recordings.transcripts import Recording, Transcript

_LINKS = frozenset({"uuid", "parentUuid", "sessionId"})
_TYPES = frozenset({"user", "assistant", "tool_result"})
_Content = dict[str, Json]


class _Session:
    """The entries of a file; `said` are the contents of each, `anew` those that replace all."""

    def __init__(self) -> None:
        self.name = self.model = self._last = ""
        self.said: dict[str, list[_Content]] = {}
        self._anew: set[str] = set()
        self._parents: dict[str, str] = {}

    def take(self, entry: LogEntry, _: Notes, kept: SizeBound) -> None:
        value, id_ = entry.value, f.text(entry.value.get("uuid"))
        self.name = self.name or f.text(value.get("sessionId"))
        self._parents.setdefault(id_, f.text(value.get("parentUuid")))
        told = f.mapping(value.get("systemPayload")).get("compressedHistory")
        if isinstance(told, list):
            self.said[id_] = f.objects(told)
            self._anew.add(id_)
        elif f.text(value.get("type")) in _TYPES and f.mapping(value.get("message")).get("parts"):
            self._add(id_, f.mapping(value["message"]))
            self.model = f.text(value.get("model")) or self.model
        else:
            return
        kept.add(entry)
        self._last = id_

    def _add(self, id_: str, content: _Content) -> None:
        before = self.said.setdefault(id_, [])
        if before and before[-1].get("role") == content.get("role"):
            parts = (f.listed(one.get("parts")) for one in (before.pop(), content))
            content = {**content, "parts": [part for found in parts for part in found]}
        before.append(content)

    def transcript(self) -> Transcript:
        contents: list[_Content] = []
        restarts: dict[int, int] = {}
        for id_ in session_log.path_to(self._last, self._parents):
            if id_ in self._anew:
                restarts[len(contents)] = len(contents)
            contents += self.said.get(id_, [])
        return Transcript(
            name=self.name or "session",
            messages=tuple(recorded_messages(contents)),
            wire=RECORD.name,
            model=self.model,
            restarts={n: kept for n, kept in restarts.items() if n < len(contents)},
        )


def _is_qwen_code(data: bytes) -> bool:
    linked = (value for value in first_objects(data) if value.keys() >= _LINKS)
    return any("parts" in f.mapping(value.get("message")) for value in linked)


@recognised_by(_is_qwen_code)
def qwen_code(lines: Iterable[bytes]) -> Recording:
    """Qwen Code session.

    A torn line is skipped and noted. Raises InputError when no line holds a message.
    """
    session = _Session()
    notes = taken(lines, session.take)
    if not session.said:
        raise notes.refusal("no line holds a message")
    return notes.on(Recording((session.transcript(),)))
