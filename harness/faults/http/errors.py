"""Errors of the provider: keys and money, overload, trouble of its own.

The SDK marks its retries with `x-stainless-retry-count`, so the history tells retry layers apart.
Statuses, types, codes and texts are those of the provider's `error_words.tsv`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.core.values.strict import FromOne
from harness.faults.shared.error_answers import error, page, type_of, words_of

STAGE = "value"
SEAMS = {
    "*": ("model", "tool", "inbox", "outbox", "provider"),
    "spend_limit": ("model", "provider"),
    "model_gone": ("model", "provider"),
}
CODES = {
    "status": ("H4", "H5", "H6", "H7", "H8", "H9", "H10", "H11", "H12", "H13"),
    "spend_limit": ("H5",),
    "model_gone": ("H6",),
    "rate_limited_without_retry_after": ("H9",),
    "retry_after": ("H10",),
    "retry_after_ms": ("H10",),
    "overloaded_burst": ("H12",),
}

WIRES = {"retry_after_ms": ("anthropic", "openai-chat", "openai-responses")}

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

    With `page` a proxy before the provider says it, in HTML. With `then: escalate` it asks for
    twice the wait each time where `retry_after` is a number of seconds.
    """
    if isinstance(retry_after, (int, float)):
        retry_after *= moment.harder
    headers = {} if retry_after is None else {"retry-after": f"{retry_after}"}
    if should_retry is not None:
        headers["x-should-retry"] = str(should_retry).lower()
    if page:
        return _page(status, message or words_of(type or type_of(status)), headers)
    return error(moment, status, message, type=type, headers=headers, stated=True)


def spend_limit(moment: Moment, plan: Plan) -> Plan:
    """429 for a spend limit: the SDK retries it, and it cannot succeed before the month ends.

    The details have the code `enforced_spend_limit_reached`; OpenAI says `insufficient_quota`.
    """
    return error(moment, 429, type="spend_limit")


def model_gone(moment: Moment, plan: Plan) -> Plan:
    """404: there is no such model any more."""
    return error(moment, 404)


def rate_limited_without_retry_after(moment: Moment, plan: Plan) -> Plan:
    """429 that does not say when to come back; the headers say that nothing is left."""
    headers = {moment.traits.requests_left: "0"}
    return error(moment, 429, headers=headers)


def retry_after(moment: Moment, plan: Plan, *, retry_after: str | float = 1.0) -> Plan:
    """429 with a `retry-after`: seconds, a date in HTTP's form, or a malformed value.

    Real ones were seen with 0, negative, huge and past values. With `then: escalate` a number
    doubles.
    """
    value = retry_after if isinstance(retry_after, str) else retry_after * moment.harder
    return error(moment, 429, headers={"retry-after": f"{value}"})


def retry_after_ms(moment: Moment, plan: Plan, *, retry_after_ms: float = 250.0) -> Plan:
    """429 with `retry-after-ms`, which SDKs prefer, and a `retry-after` that says otherwise."""
    headers = {"retry-after-ms": f"{retry_after_ms * moment.harder:g}", "retry-after": "30"}
    return error(moment, 429, headers=headers)


def overloaded_burst(
    moment: Moment,
    plan: Plan,
    *,
    failures: FromOne = 3,
    among: FromOne = 5,
    status: Literal[504, 529] = 529,
) -> Plan:
    """Of every `among` calls of a session `failures` fail, drawn by the run's seed.

    To be armed for more than one call (`often: forever`).
    """
    group, place = divmod(moment.call.n - 1, among)
    draw = moment.draws.random(
        "overloaded_burst", moment.call.session, moment.call.seam, f"{group}"
    )
    if place not in draw.sample(range(among), min(failures, among)):
        return plan
    return error(moment, status)
