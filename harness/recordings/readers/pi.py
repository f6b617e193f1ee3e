"""Sessions of the pi coding agent: JSON Lines, a tree of entries in one file.

Each path from root to leaf is a transcript. A `compaction` replaces what precedes it, up to
`firstKeptEntryId`. The model gets `custom_message`, `bashExecution` and branch summaries as user
messages. The oldest files have no links, so line order is the path. Source: badlogic/pi-mono,
packages/coding-agent/docs/session.md, versions 1 to 3 of the format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Thinking,
    ToolResult,
    ToolUse,
    user,
)
from harness.core.values.plans import ApiError
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import session_log
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import LogEntry, Notes, SizeBound, first_objects, taken
from harness.recordings.transcripts import Recording, Transcript

_MOST_BRANCHES = 100


class _EntryTree:
    def __init__(self) -> None:
        self.name = self.model = ""
        self.said: dict[str, dict[str, Any]] = {}
        self._messages: dict[str, Message] = {}
        self._parents: dict[str, str] = {}
        self._lines: dict[str, int] = {}
        self._last = ""
        self._sessions = {""}

    def take(self, entry: LogEntry, notes: Notes, kept: SizeBound) -> None:
        value = entry.value
        if value.get("type") == "session":
            self.name = self.name or f.text(value.get("id"))
            self._sessions.add(f.text(value.get("id")))
            return
        linked = isinstance(value.get("id"), str) and "parentId" in value
        name = value["id"] if linked else f"line {entry.number}"
        parent = f.text(value.get("parentId")) if linked else self._last
        if name in self._lines:
            notes.add(entry.number, f"its id is that of line {self._lines[name]}, skipped")
            return
        self._parents[name], self._lines[name], self._last = parent, entry.number, name
        said = _message_of(value, notes)
        if said is not None:
            kept.add(entry)
            self._messages[name], self.said[name] = said, _facts_of(value)
            self.model = self.model or f.text(self.said[name].get("model"))

    def transcripts(self, notes: Notes) -> Iterator[Transcript]:
        """The path that ends last comes first."""
        self._close_gaps(notes)
        for name in session_log.circular_entries(self._parents):
            notes.add(self._lines[name], "its parents lead back to it")
        for number, leaf in enumerate(self._leaves(), start=1):
            if number > _MOST_BRANCHES:
                notes.add(self._lines[leaf], f"more than {_MOST_BRANCHES} branches, skipped")
                return
            path = session_log.path_to(leaf, self._parents)
            yield self._transcript(path, f"branch to {leaf}" if number > 1 else "")

    def _close_gaps(self, notes: Notes) -> None:
        """Link an entry whose parent was lost to the entry before it: no session begins there."""
        before = ""
        for name, parent in self._parents.items():
            if parent not in self._parents and parent not in self._sessions:
                notes.lose(self._lines[name], f"its parent {parent[:40]!r} is not in the log")
                self._parents[name] = before
            before = name

    def _leaves(self) -> list[str]:
        """Entries with a message and without a later entry that has one."""
        before, seen = set[str](), set[str]()
        for name in self._messages:
            at = self._parents.get(name, "")
            while at in self._parents and at not in seen:
                seen.add(at)
                before.add(at)
                at = self._parents[at]
        ends = [name for name in self._messages if name not in before] or list(self._messages)[-1:]
        return ends[::-1]

    def _transcript(self, entries_on: list[str], branch: str) -> Transcript:
        path: list[str] = []
        at: dict[str, int] = {}
        for name in entries_on:
            at[name] = len(path)
            path += [name] if name in self._messages else []
        said = [self.said[name] for name in path]
        first_kept = {n: f.text(fact["kept"]) for n, fact in enumerate(said) if "kept" in fact}
        stops = {n: f.text(fact.get("stop")) for n, fact in enumerate(said)}
        return Transcript(
            name=", ".join(filter(None, (self.name or "session", branch))),
            messages=tuple(self._messages[name] for name in path),
            wire=RECORD.name,
            model=self.model,
            stops={n: stop for n, stop in stops.items() if stop},
            restarts={n: min(at.get(name, n), n) for n, name in first_kept.items()},
            failures=dict(_failures(said)),
            lost_result="No result provided",
        )


def _failures(said: Iterable[dict[str, Any]]) -> Iterator[tuple[int, ApiError]]:
    """The answers that stopped with an error, and what the log says of it."""
    for n, facts in enumerate(said):
        if facts.get("stop") == "error":
            yield n, session_log.logged_error(f.text(facts.get("error")))


_TYPES = frozenset({"session", "message", "model_change", "thinking_level_change"})
_LINKED = frozenset({"id", "parentId"})


def _is_pi(data: bytes) -> bool:
    """Whether the first object is a session, or an entry of one whose first line is damaged."""
    first = next(first_objects(data), {})
    is_entry = first.get("type") == "session" or first.keys() >= _LINKED
    return is_entry and first.get("type") in _TYPES and isinstance(first.get("id"), str)


@recognised_by(_is_pi)
def pi(lines: Iterable[bytes]) -> Recording:
    """pi session.

    A torn line and an entry with an id of an earlier one are skipped and noted. Raises InputError
    when no line holds a message.
    """
    tree = _EntryTree()
    notes = taken(lines, tree.take)
    if not tree.said:
        raise notes.refusal("no line holds a message")
    transcripts = tuple(tree.transcripts(notes))
    return notes.on(Recording(transcripts))


_TEXTS = {"text": "text"}


def _message_of(entry: dict[str, Any], notes: Notes) -> Message | None:
    kind = entry.get("type")
    if kind == "message":
        said = f.mapping(entry.get("message"))
        role = f.text(said.get("role"))
        if role not in _ROLES and role != "system":
            notes.unknown(f"the role {role!r}")
        return _ROLES[role](said) if role in _ROLES else None
    if kind == "custom_message":
        return _user(entry)
    if kind in ("compaction", "branch_summary"):
        return _summary(entry)
    return None


def _facts_of(entry: dict[str, Any]) -> dict[str, Json]:
    """`model`, `stop` reason, the text of its `error`, and what a compaction `kept`."""
    if entry.get("type") == "compaction":
        return {"kept": f.text(entry.get("firstKeptEntryId"))}
    said = f.mapping(entry.get("message"))
    if said.get("role") != "assistant":
        return {}
    stop, error = f.text(said.get("stopReason")), f.text(said.get("errorMessage"))
    return {"model": f.text(said.get("model")), "stop": stop, "error": error}


def _user(value: dict[str, Json]) -> Message:
    return Message("user", f.blocks(value.get("content"), _TEXTS))


def _assistant(value: dict[str, Json]) -> Message:
    content = value.get("content")
    if isinstance(content, str):
        return Message("assistant", f.blocks(content, _TEXTS))
    return Message("assistant", tuple(_block(block) for block in f.objects(content)))


def _block(block: dict[str, Json]) -> Block:
    match block:
        case {"type": "toolCall"}:
            id_, name = f.identifier(block.get("id")), f.text(block.get("name"))
            return ToolUse(id_, name, f.arguments(block.get("arguments")))
        case {"type": "thinking", "thinking": str(text)}:
            return Thinking(text, f.text(block.get("thinkingSignature")))
    return next(iter(f.blocks([block], _TEXTS)), Opaque("", block))


def _result(value: dict[str, Json]) -> Message:
    content = f.result_content(value.get("content"), _TEXTS)
    failed = value.get("isError") is True
    return Message("tool", (ToolResult(f.identifier(value.get("toolCallId")), content, failed),))


def _command(value: dict[str, Json]) -> Message | None:
    """A command that the user ran; None when the model does not get it."""
    if value.get("excludeFromContext") is True:
        return None
    return user(f"$ {f.text(value.get('command'))}\n{f.text(value.get('output'))}")


def _summary(value: dict[str, Json]) -> Message:
    return user(f.text(value.get("summary")))


_ROLES: dict[str, Callable[[dict[str, Json]], Message | None]] = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _result,
    "bashExecution": _command,
    "custom": _user,
    "hookMessage": _user,
    "branchSummary": _summary,
    "compactionSummary": _summary,
}
