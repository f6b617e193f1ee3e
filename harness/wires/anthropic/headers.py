"""The heads of answers: status and headers, as the provider sets them.

Every answer names itself in `request-id`, errors too: the official SDK reads exactly this name.
"""

from __future__ import annotations

from harness.core.plans import Head

JSON = "application/json"
EVENT_STREAM = "text/event-stream; charset=utf-8"


def json_head(status: int, id_: str, more: dict[str, str] | None = None) -> Head:
    """The head of a JSON answer; `more` wins over what is usual."""
    usual = {"content-type": JSON, "request-id": id_}
    return Head(status, usual | {k.lower(): v for k, v in more.items()} if more else usual)


def stream_head(id_: str) -> Head:
    """The head of a stream of events."""
    return Head(200, {"content-type": EVENT_STREAM, "cache-control": "no-cache", "request-id": id_})
