"""The general knob: any error status, with any words and headers that steer retries."""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.faults.http.said import error, page, type_of

STAGE = "value"

SEAMS = ("model", "tool", "inbox", "outbox", "provider")

CODES = {"status": ("H4", "H5", "H6", "H7", "H8", "H9", "H10", "H11", "H12", "H13")}

_page = page


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
    kind = type or type_of(status)
    words = message or kind.replace("_", " ").capitalize()
    if page:
        return _page(status, words, headers)
    return error(moment, status, words, type=kind, headers=headers)
