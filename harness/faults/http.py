"""HTTP faults: the provider answers an error in place of a reply.

A model's answer is a value, which the wire puts into its own envelope; tools, inbox and outbox have
no wire, and answer JSON. The turn that it replaces is not consumed, so the next call gets it.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.plans import Answer, ApiError, Head, Plan, Send
from harness.core.ports import Moment

STAGE = "value"

SEAMS = ("model", "tool", "inbox", "outbox")

CODES = {"status": ("H4", "H5", "H6", "H7", "H8", "H9", "H10", "H11", "H12", "H13")}

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def status(
    moment: Moment,
    plan: Plan,
    *,
    status: Annotated[int, msgspec.Meta(ge=400, le=599)] = 529,
    type: str = "",
    message: str = "",
    retry_after: str | float | None = None,
    should_retry: bool | None = None,
    page: bool = False,
) -> Plan:
    """An error status with its provider's type; `retry_after` and `should_retry` are headers.

    With `page` a proxy before the provider says it, in HTML. Escalating, it asks for twice the wait
    each time where `retry_after` is a number of seconds.
    """
    if isinstance(retry_after, (int, float)):
        retry_after *= moment.harder
    headers = {} if retry_after is None else {"retry-after": f"{retry_after}"}
    if should_retry is not None:
        headers["x-should-retry"] = str(should_retry).lower()
    kind = type or _TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
    words = message or kind.replace("_", " ").capitalize()
    if page:
        html = f"<html><body><h1>{status} {words}</h1></body></html>"
        return (Send(html.encode(), Head(status, {"content-type": "text/html", **headers})),)
    if moment.call.seam != "model":
        head = Head(status, {"content-type": "application/json", **headers})
        return (Send(msgspec.json.encode({"error": words}), head),)
    return (Answer(ApiError(status, kind, words, headers)),)
