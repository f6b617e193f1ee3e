"""A stand with a long past, which a provider may find too long; and what it was sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.core.values.messages import Message, assistant, user
from tests.agent.replies import text
from tests.agent.stand import Stand

LONG = "all work and no play " * 100
PAST: list[Message] = [
    user("first " + LONG),
    assistant("one " + LONG),
    user("second " + LONG),
    assistant("two, the last answer"),
]


def stand(folder: Path, *replies: Any, past: list[Message] = PAST, summary: Any = None) -> Stand:
    """A stand with a past."""
    made = Stand(folder, replies, "and now?")
    made.store.seed("main", past)
    made.provider.compact_replies = [summary or text("They talked about work.")]
    return made


def said(request: dict[str, Any]) -> str:
    """All text of a request."""
    blocks = (block for message in request["messages"] for block in message["content"])
    return "\n".join(block.get("text", "") for block in blocks)
