"""Sessions of GitHub's Copilot CLI: JSON Lines of events, one session a file.

An answer lists the tools that it requests; their results come as events of their own. The events of
a sub-agent name the call that began it, and make up a further transcript. Hooks, turns and
usage are for the screen. Source: files of versions 0.0.420 to 1.0.77 under
`~/.copilot/session-state`.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.values.messages import Block, Json, Message, Text, ToolResult, ToolUse, user
from harness.core.values.plans import ApiError
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import LogEntry, Notes, SizeBound, first_objects, taken
from harness.recordings.transcripts import Recording, Transcript

_EVENT = frozenset({"type", "data", "timestamp"})
_ABOUT = frozenset({"session", "user", "assistant", "tool", "hook", "system", "subagent"})
"""What the types of events begin with, before the point."""

_Object = dict[str, Json]


class _Talk:
    """The messages of the session, or of one of its sub-agents."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.failures: dict[int, ApiError] = {}
        self.restarts: dict[int, int] = {}
        self._called: set[str] = set()

    def answer(self, data: _Object) -> None:
        text, requests = f.text(data.get("content")), f.objects(data.get("toolRequests"))
        blocks: list[Block] = [Text(text)] if text else []
        new = (r for r in requests if f.text(r.get("toolCallId")) not in self._called)
        blocks += [self._call(request, "name") for request in new]
        if blocks:
            self.messages.append(Message("assistant", tuple(blocks)))

    def start(self, data: _Object) -> None:
        """A tool starts; its call is new where no answer told of it before, as in old files."""
        if f.text(data.get("toolCallId")) not in self._called:
            self.messages.append(Message("assistant", (self._call(data, "toolName"),)))

    def _call(self, data: _Object, name: str) -> ToolUse:
        id_ = f.text(data.get("toolCallId"))
        self._called.add(id_)
        return ToolUse(id_, f.text(data.get(name)), f.arguments(data.get("arguments")))

    def end(self, data: _Object, notes: Notes) -> None:
        id_ = f.text(data.get("toolCallId"))
        if id_ not in self._called:
            # The file was cut: what the model saw of this call is not known.
            notes.unknown("a tool that ends and never began")
            return
        result, error = f.mapping(data.get("result")), f.mapping(data.get("error"))
        text = f.as_text(result.get("content", error.get("message", "")))
        said = ToolResult(id_, text, data.get("success") is False)
        self.messages.append(Message("tool", (said,)))

    def fail(self, data: _Object) -> None:
        text = f.text(data.get("message"))
        error = ApiError(f.whole(data.get("statusCode")) or 0, f.text(data.get("errorType")), text)
        self.failures[len(self.messages)] = error
        self.messages.append(Message("assistant", (Text(text),)))

    def compact(self, summary: str) -> None:
        at = len(self.messages)
        self.restarts[at] = at
        self.messages.append(user(summary))


class _Session:
    def __init__(self) -> None:
        self.name = self.model = ""
        self.talks: dict[str, _Talk] = {}

    def take(self, entry: LogEntry, notes: Notes, kept: SizeBound) -> None:
        kind, data = f.text(entry.value.get("type")), f.mapping(entry.value.get("data"))
        self.name = self.name or f.text(data.get("sessionId"))
        self.model = self.model or f.text(data.get("newModel")) or f.text(data.get("selectedModel"))
        talk = self.talks.setdefault(f.text(data.get("parentToolCallId")), _Talk())
        match kind:
            case "user.message":
                talk.messages.append(user(f.text(data.get("content"))))
            case "assistant.message":
                talk.answer(data)
            case "tool.execution_start":
                talk.start(data)
            case "tool.execution_complete":
                talk.end(data, notes)
            case "session.error" if "statusCode" in data:
                talk.fail(data)
            case "session.compaction_complete" if data.get("summaryContent"):
                talk.compact(f.text(data["summaryContent"]))
            case _:
                return
        kept.add(entry)

    def transcript(self, call: str, talk: _Talk) -> Transcript:
        return Transcript(
            name=f"{self.name or 'session'}{f', agent of {call}' if call else ''}",
            messages=tuple(talk.messages),
            wire=RECORD.name,
            model=self.model,
            failures=talk.failures,
            restarts=talk.restarts,
        )


def _is_copilot_cli(data: bytes) -> bool:
    first = next(first_objects(data), {})
    is_event = first.keys() >= _EVENT and isinstance(first["data"], dict)
    about, point, _ = f.text(first.get("type")).partition(".")
    return is_event and bool(point) and about in _ABOUT


@recognised_by(_is_copilot_cli)
def copilot_cli(lines: Iterable[bytes]) -> Recording:
    """Copilot CLI session.

    A torn line is skipped and noted. Raises InputError when no line holds a message.
    """
    session = _Session()
    notes = taken(lines, session.take)
    talks = ((call, talk) for call, talk in session.talks.items() if talk.messages)
    found = tuple(session.transcript(call, talk) for call, talk in talks)
    if not found:
        raise notes.refusal("no line holds a message")
    return notes.on(Recording(found))
