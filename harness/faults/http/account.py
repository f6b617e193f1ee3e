"""Errors about keys, money and what they give access to: the same request fails until a human acts.

Statuses, types and codes are those of the official SDK's error classes; the texts are ours where no
public report quotes one.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.calls import ModelRequest, ProviderRequest
from harness.core.values.plans import Plan
from harness.faults.http.said import error

STAGE = "value"

SEAMS = ("model", "provider")

CODES = {
    "key_rotated": ("H4",),
    "permission_revoked": ("H4",),
    "payment_required": ("H5",),
    "credit_too_low": ("H5",),
    "spend_limit": ("H5",),
    "model_gone": ("H6",),
}


def key_rotated(moment: Moment, plan: Plan) -> Plan:
    """401: the key is not valid any more."""
    return error(moment, 401, "invalid API key")


def permission_revoked(moment: Moment, plan: Plan) -> Plan:
    """403: the key may not use this resource any more."""
    text = "Your API key does not have permission to use the specified resource."
    return error(moment, 403, text)


def payment_required(moment: Moment, plan: Plan) -> Plan:
    """402: there is something wrong with how the account pays."""
    return error(moment, 402, "There is an issue with your organization's payment information.")


def credit_too_low(moment: Moment, plan: Plan) -> Plan:
    """400, though nothing is wrong with the request: the account's credit is used up."""
    text = "Your credit balance is too low to access the API. Please add credits to go on."
    return error(moment, 400, text)


def spend_limit(moment: Moment, plan: Plan) -> Plan:
    """429 for a spend limit: the SDK retries it, and it cannot succeed before the month ends.

    The details have the code `enforced_spend_limit_reached`; OpenAI says `insufficient_quota`.
    """
    text = "You have reached your specified API usage limits. You will regain access next month."
    if moment.wire == "anthropic":
        return error(moment, 429, text, code="enforced_spend_limit_reached")
    return error(moment, 429, text, type="insufficient_quota", code="insufficient_quota")


def model_gone(moment: Moment, plan: Plan) -> Plan:
    """404: there is no such model any more."""
    request = moment.call.request
    model = request.model if isinstance(request, (ModelRequest, ProviderRequest)) else ""
    return error(moment, 404, f"model: {model}")
