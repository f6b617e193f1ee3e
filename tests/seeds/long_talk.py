"""A conversation that has grown long, on the stand, for the statements about its overflow."""

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
SUMMARY = "They talked about work."


def stand(
    folder: Path,
    *replies: Any,
    past: list[Message] = PAST,
    summary: Any = None,
    asked: tuple[str, ...] = ("and now?",),
) -> Stand:
    """A stand with a past, with what the model answers, and with what a compaction is answered."""
    made = Stand(folder, replies, *asked)
    made.store.seed("main", past)
    made.provider.compact_replies = [summary or text(SUMMARY)]
    return made


def said(request: dict[str, Any]) -> str:
    """All text of a request."""
    blocks = (block for message in request["messages"] for block in message["content"])
    return "\n".join(block.get("text", "") for block in blocks)


def ends(ran: Stand) -> list[tuple[str, str, str]]:
    """Kind, status and text of each end of a turn."""
    kinds = ("final", "error", "notice")
    return [(s["kind"], s["status"], s["text"]) for s in ran.said if s["kind"] in kinds]
