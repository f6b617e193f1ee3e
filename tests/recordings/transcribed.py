"""A transcript as a history, and the requests that are in it."""

from __future__ import annotations

from typing import Any

from harness.core.history.events import Called
from harness.core.history.history import History
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import (
    Message,
    Text,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from harness.recordings.transcript_history import to_history
from harness.recordings.transcripts import Transcript

TURN = (
    user("go"),
    assistant("so", ToolUse("1", "f", {"x": 1}), ToolUse("2", "g")),
    results(ToolResult("1", "ok"), ToolResult("2", (Text("bad"),), True)),
    assistant("done"),
)


def requests_of(history: History) -> list[list[Message]]:
    """The messages of each model call, put together from what it continues."""
    known: dict[str, list[Message]] = {}
    for event in history.events:
        if isinstance(event, Called) and isinstance(event.request, ModelRequest):
            request = event.request
            kept = known[request.after][: request.keep] if request.after else []
            known[event.key] = kept + [history.messages[name] for name in request.messages]
    return list(known.values())


def history_of(*messages: Message, **more: Any) -> History:
    """A transcript of these messages, as a history."""
    return to_history(Transcript(name="t", messages=messages, **more))
