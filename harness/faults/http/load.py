"""Errors of a provider in trouble: slow down, try again, or not; the SDK retries nearly all.

What steers its retries are headers, and they may say anything. A retry of the SDK names itself in
`x-stainless-retry-count`, which the history keeps, so the layers of nested retries can be told
apart and counted.
"""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.plans import Plan
from harness.core.values.strict import FromOne
from harness.faults.http.said import error

STAGE = "value"

SEAMS = ("model", "tool", "inbox", "outbox", "provider")

CODES = {
    "request_timeout": ("H7",),
    "conflict": ("H7",),
    "rate_limited_without_retry_after": ("H9",),
    "retry_after": ("H10",),
    "retry_after_ms": ("H10",),
    "server_error": ("H11",),
    "overloaded_burst": ("H12",),
    "should_retry_true_on_400": ("H13",),
    "should_retry_false_on_529": ("H13",),
    "overloaded": ("H21",),
}

_OVERLOADED = "Overloaded"


def request_timeout(moment: Moment, plan: Plan) -> Plan:
    """408: the provider has waited too long for the request."""
    return error(moment, 408, "Request timed out", type="timeout_error")


def conflict(moment: Moment, plan: Plan) -> Plan:
    """409: another request is at work on the same thing."""
    return error(moment, 409, "The resource is being changed by another request")


def rate_limited_without_retry_after(moment: Moment, plan: Plan) -> Plan:
    """429 without a word about when to come back; the headers say that nothing is left."""
    headers = {"anthropic-ratelimit-requests-remaining": "0"}
    if moment.wire != "anthropic":
        headers = {"x-ratelimit-remaining-requests": "0"}
    return error(moment, 429, "This request would exceed your rate limit", headers=headers)


def retry_after(moment: Moment, plan: Plan, *, retry_after: str | float = 1.0) -> Plan:
    """429 with a `retry-after`: seconds, a date in HTTP's form, or what nobody can read.

    Real ones were seen with 0, negative, huge and past values. Escalating, a number doubles.
    """
    value = retry_after if isinstance(retry_after, str) else retry_after * moment.harder
    headers = {"retry-after": f"{value}"}
    return error(moment, 429, "This request would exceed your rate limit", headers=headers)


def retry_after_ms(moment: Moment, plan: Plan, *, retry_after_ms: float = 250.0) -> Plan:
    """429 with `retry-after-ms`, which SDKs prefer, and a `retry-after` that says otherwise."""
    headers = {"retry-after-ms": f"{retry_after_ms * moment.harder:g}", "retry-after": "30"}
    return error(moment, 429, "This request would exceed your rate limit", headers=headers)


def server_error(moment: Moment, plan: Plan) -> Plan:
    """500: the provider has failed."""
    return error(moment, 500, "Internal server error")


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
    return error(moment, status, "Upstream timed out" if status == 504 else _OVERLOADED)


def should_retry_true_on_400(moment: Moment, plan: Plan) -> Plan:
    """400 with `x-should-retry: true`: the SDK resends what cannot succeed."""
    return error(moment, 400, "Error", headers={"x-should-retry": "true"})


def should_retry_false_on_529(moment: Moment, plan: Plan) -> Plan:
    """529 with `x-should-retry: false`: the SDK gives up at once."""
    return error(moment, 529, _OVERLOADED, headers={"x-should-retry": "false"})


def overloaded(moment: Moment, plan: Plan) -> Plan:
    """529: for ever, it shows how the retries of all layers multiply."""
    return error(moment, 529, _OVERLOADED)
