"""The heads of answers: status and headers, as the provider sets them.

Every answer names itself in `request-id`, errors too: the official SDK reads exactly this name. The
limits are the same in each answer, so that a run stays the same to the byte: nothing is used up but
by a 429, and what is used up was reset long ago. A script or a fault that needs others says so.
"""

from __future__ import annotations

from harness.core.values.plans import Head

JSON = "application/json"
EVENT_STREAM = "text/event-stream; charset=utf-8"

_LIMITS = {"requests": (4000, 3999), "tokens": (4_000_000, 3_999_000)}
RESET = "2026-01-01T00:00:00Z"


def _limits(*, used_up: bool) -> dict[str, str]:
    family: dict[str, str] = {}
    for name, (limit, remaining) in _LIMITS.items():
        prefix = f"anthropic-ratelimit-{name}"
        family[f"{prefix}-limit"] = str(limit)
        family[f"{prefix}-remaining"] = "0" if used_up else str(remaining)
        family[f"{prefix}-reset"] = RESET
    return family


LIMITS, USED_UP = _limits(used_up=False), _limits(used_up=True)
"""The rate limit headers of a usual answer, and those of a 429."""

_JSON_USUAL = {"content-type": JSON, **LIMITS}
_JSON_USED_UP = {"content-type": JSON, **USED_UP}
_STREAM_USUAL = {"content-type": EVENT_STREAM, "cache-control": "no-cache", **LIMITS}


def json_head(status: int, id_: str, more: dict[str, str] | None = None) -> Head:
    """The head of a JSON answer; `more` wins over what is usual."""
    usual = {**(_JSON_USED_UP if status == 429 else _JSON_USUAL), "request-id": id_}
    return Head(status, usual | {k.lower(): v for k, v in more.items()} if more else usual)


def stream_head(id_: str) -> Head:
    """The head of a stream of events."""
    return Head(200, {**_STREAM_USUAL, "request-id": id_})
