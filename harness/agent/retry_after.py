"""The longest wait that a provider may ask for.

The anthropic SDK obeys any `retry-after`: told to come back tomorrow, it sleeps a day inside one
call, and the user hears nothing. The openai SDK gives up beyond two minutes; so does this. An SDK
that has no middleware yet is left as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

MOST_S = 120.0


def within_reason(client: Any) -> Any:
    """The client, whose calls fail at once when they are told to wait longer than `MOST_S`."""
    with_middleware = getattr(client, "with_middleware", None)
    return client if with_middleware is None else with_middleware(_give_up)


def _give_up(request: Any, call_next: Callable[[Any], Any]) -> Any:
    """One try: an answer that asks for too long a wait says that it is not to be retried."""
    response = call_next(request)
    if response.status_code >= 400 and asked_s(response.headers) > MOST_S:
        response.headers["x-should-retry"] = "false"
    return response


def asked_s(headers: Mapping[str, str]) -> float:
    """How many seconds an answer asks to wait; 0 when it says nothing that can be read."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return float(headers[name]) * scale
        except (KeyError, ValueError):
            continue
    try:
        return parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time()
    except (KeyError, ValueError, TypeError, OverflowError):
        return 0.0
