"""The heads of answers: status and headers, as the provider sets them.

Every answer names itself in `x-request-id`, errors too: the official SDK reads exactly this name.
The rate limits are those of an account that has never used anything but this request; what is left
follows from the prompt alone. A reset is a duration in words, `6ms`.
"""

from __future__ import annotations

from harness.core.values.plans import Head

JSON = "application/json"
EVENT_STREAM = "text/event-stream; charset=utf-8"
REQUESTS_LIMIT, TOKENS_LIMIT = 10_000, 2_000_000


def json_head(status: int, id_: str, tokens: int, more: dict[str, str] | None = None) -> Head:
    """The head of a JSON answer; `more` wins over what is usual."""
    usual = {"content-type": JSON, **_usual(id_, tokens)}
    return Head(status, usual | {k.lower(): v for k, v in more.items()} if more else usual)


def stream_head(id_: str, tokens: int) -> Head:
    """The head of a stream of events."""
    return Head(200, {"content-type": EVENT_STREAM, **_usual(id_, tokens)})


def _usual(id_: str, tokens: int) -> dict[str, str]:
    return {
        "x-request-id": id_,
        "openai-version": "2020-10-01",
        "x-ratelimit-limit-requests": f"{REQUESTS_LIMIT}",
        "x-ratelimit-limit-tokens": f"{TOKENS_LIMIT}",
        "x-ratelimit-remaining-requests": f"{REQUESTS_LIMIT - 1}",
        "x-ratelimit-remaining-tokens": f"{max(0, TOKENS_LIMIT - tokens)}",
        "x-ratelimit-reset-requests": "6ms",
        "x-ratelimit-reset-tokens": "0s",
    }
