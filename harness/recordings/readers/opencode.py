"""Sessions that `opencode export` printed: one object, with the parts of each message.

A part of a tool holds the call and its result. An answer has a step for each request to the model.
The next request shows the model a call that was cut short as a failed one. The summary of a
compaction begins a new context, with the tail of messages that the compaction names.
Source: exports of versions 1.2 to 1.18, and anomalyco/opencode, session/message-v2.ts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from harness.core.values.errors import InputError
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    user,
)
from harness.core.values.plans import ApiError
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.half_read import is_of_a_tool
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import logged_error
from harness.recordings.transcripts import Recording, Transcript

_BEGINS = re.compile(rb'\s*(?:Exporting session: \S+\s+)?\{\s*"info":\s*\{\s*"id":\s*"ses_')
"""With `2>&1` the line that the program prints for the user stands before the object."""

_CUT_SHORT = "[Tool execution was interrupted]"
"""What opencode shows the model in place of the result of a lost call."""

_NO_FAILURES = ("MessageAbortedError", "MessageOutputLengthError")  # the API made none of them
_STATES = frozenset({"pending", "running", "completed", "error"})
_Object = dict[str, Json]


class _Talk:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.failures: dict[int, ApiError] = {}
        self.restarts: dict[int, int] = {}
        self.model = ""
        self._begins: dict[str, int] = {}
        self._tail = ""

    def ask(self, info: _Object, parts: list[_Object]) -> None:
        self._begins[f.text(info.get("id"))] = len(self.messages)
        tails = (f.text(part.get("tail_start_id")) for part in parts)
        self._tail = next(filter(None, tails), "")
        blocks = tuple(block for part in parts for block in _said(part))
        self.messages += [Message(f.text(info.get("role")), blocks)] if blocks else []

    def answer(self, info: _Object, parts: list[_Object], *, is_last: bool) -> None:
        at = self._begins[f.text(info.get("id"))] = len(self.messages)
        self.model = self.model or f.text(info.get("modelID"))
        if info.get("summary") is True:
            self._begin_anew(f.joined(f.text(part.get("text")) for part in parts))
            return
        begins = [n for n, part in enumerate(parts) if n and part.get("type") == "step-start"]
        for begin, end in pairwise((0, *begins, len(parts))):
            step = parts[begin:end]
            blocks = tuple(block for part in step for block in _said(part))
            self.messages += [Message("assistant", blocks)] if blocks else []
            results = filter(None, (_result(part, is_last=is_last) for part in step))
            self.messages += [Message("tool", (result,)) for result in results]
        error = f.mapping(info.get("error"))
        if error and error.get("name") not in _NO_FAILURES:
            told = f.mapping(error.get("data"))
            text = f.text(told.get("message")) or f.text(error.get("name"))
            self.messages += [Message("assistant", (Text(text),))] * (len(self.messages) == at)
            self.failures[at] = logged_error(text, told.get("statusCode"), error.get("name"))

    def _begin_anew(self, summary: str) -> None:
        at = len(self.messages)
        if summary:
            self.restarts[at] = self._begins.get(self._tail, at)
            self.messages.append(user(summary))


def _said(part: _Object) -> Iterator[Block]:
    match f.text(part.get("type")):
        case "text" if part.get("text") and part.get("ignored") is not True:
            yield Text(f.text(part["text"]))
        case "reasoning" if part.get("text"):
            yield Thinking(f.text(part["text"]))
        case "tool":
            yield _call(part)
        case kind if kind == "file" or is_of_a_tool(kind, "assistant"):
            yield Opaque(kind, part)


def _call(part: _Object) -> Block:
    state, id_ = f.mapping(part.get("state")), f.identifier(part.get("callID"))
    if not id_ or "input" not in state or state.get("status") not in _STATES:
        reason = "the id, the input or the state of a call is not found"
        return Opaque(f.UNREAD_CALL, {"reason": reason, "call": part})
    return ToolUse(id_, f.text(part.get("tool")), f.arguments(state["input"]))


def _result(part: _Object, *, is_last: bool) -> ToolResult | None:
    """The result in the part of a tool; None for a tool that may still run."""
    state, id_ = f.mapping(part.get("state")), f.identifier(part.get("callID"))
    match state.get("status"):
        case "completed":
            return ToolResult(id_, f.as_text(state.get("output", "")))
        case "error":
            return ToolResult(id_, f.text(state.get("error")), is_error=True)
        case "pending" | "running" if not is_last:
            return ToolResult(id_, _CUT_SHORT, is_error=True)
    return None


@recognised_by(lambda data: _BEGINS.match(data) is not None)
def opencode(document: bytes) -> Recording:
    """opencode session, as `opencode export` prints it.

    Raises InputError when no message holds a text or a call, and for JSON that is torn.
    """
    value = f.mapping(json_documents.load(document[max(document.find(b"{"), 0) :]))
    messages, talk = f.objects(value.get("messages")), _Talk()
    for message in messages:
        said, parts = f.mapping(message.get("info")), f.objects(message.get("parts"))
        if said.get("role") == "assistant":
            talk.answer(said, parts, is_last=message is messages[-1])
        else:
            talk.ask(said, parts)
    if not talk.messages:
        raise InputError("no message holds a text or a call", "line 1")
    transcript = Transcript(
        name=f.text(f.mapping(value.get("info")).get("id")),
        messages=tuple(talk.messages),
        wire=RECORD.name,
        model=talk.model,
        failures=talk.failures,
        restarts=talk.restarts,
    )
    return Recording((transcript,))
