"""Errors about the request itself: what the same request, sent again, meets again.

The words for a broken rule are the wire's own, whichever rule is forced. The faults of a narrower
model or a stricter check strike only on requests that hold what is no longer taken, as the provider
would; on all others they are the identity.
"""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.messages import Text
from harness.core.values.plans import Plan
from harness.core.values.strict import FromOne
from harness.faults.http import said
from harness.faults.http.said import refusal

STAGE = "value"

SEAMS = ("model",)

CODES = {
    "invalid_request": ("H1",),
    "prompt_too_long": ("H2",),
    "compaction_refused": ("H3",),
    "too_large": ("H8",),
    "too_large_page": ("H8",),
    "prefill_refused": ("H18",),
    "system_role_refused": ("H18",),
    "thinking_type_refused": ("H18",),
    "tightened_whitespace": ("H19",),
}

WIRES = {
    "prefill_refused": ("anthropic",),
    "system_role_refused": ("anthropic",),
    "thinking_type_refused": ("anthropic",),
    "tightened_whitespace": ("anthropic",),
}


def invalid_request(moment: Moment, plan: Plan, *, rule: str = "", message: str = "") -> Plan:
    """400 for a rule of the wire's validator, broken or not: its own type and words.

    `rule` is the rule's id (`V4`), the wire's first one if not given; `message` replaces the words.
    """
    rule = rule or next(iter(moment.refusals), "")
    if message:
        return said.error(moment, 400, message)
    return refusal(moment, rule) or plan


def prompt_too_long(
    moment: Moment, plan: Plan, *, tokens: FromOne = 208_380, window: FromOne = 200_000
) -> Plan:
    """400: the prompt does not fit the model's window, with both numbers in the text."""
    return _too_long(moment, tokens, window)


def compaction_refused(
    moment: Moment, plan: Plan, *, tokens: FromOne = 208_380, window: FromOne = 200_000
) -> Plan:
    """400 for the very request that should make the conversation shorter: it is too long too."""
    return _too_long(moment, tokens, window) if moment.call.purpose == "compact" else plan


def too_large(moment: Moment, plan: Plan) -> Plan:
    """413: the request has too many bytes, however many tokens they are."""
    return said.error(moment, 413, "Request exceeds the maximum size")


def too_large_page(moment: Moment, plan: Plan) -> Plan:
    """413 from the network in front of the API: HTML, without a type and a request id."""
    return said.page(413, "Request Entity Too Large")


def prefill_refused(moment: Moment, plan: Plan) -> Plan:
    """The model takes no answer begun for it any more (V14)."""
    messages = moment.call.messages
    begun = bool(messages) and messages[-1].role == "assistant" and not messages[-1].tool_uses
    return (begun and refusal(moment, "V14")) or plan


def system_role_refused(moment: Moment, plan: Plan) -> Plan:
    """The model takes no system messages within the conversation any more (V2)."""
    places = [n for n, message in enumerate(moment.call.messages) if message.role == "system"]
    return (places and refusal(moment, "V2", n=places[0])) or plan


_THINKING = {"enabled": "V19", "adaptive": "V19a", "disabled": "V19b"}


def thinking_type_refused(
    moment: Moment, plan: Plan, *, type: Literal["enabled", "adaptive", "disabled"] = "enabled"
) -> Plan:
    """The model takes `thinking` of this type no more (V19)."""
    asked = moment.call.settings.get("thinking")
    asks = isinstance(asked, dict) and asked.get("type") == type
    return (asks and refusal(moment, _THINKING[type])) or plan


def tightened_whitespace(moment: Moment, plan: Plan) -> Plan:
    """Texts of nothing but blanks, which were taken until now, are refused (V10)."""
    blank = any(
        isinstance(block, Text) and not block.text.strip()
        for message in moment.call.messages
        for block in message.blocks
    )
    return (blank and refusal(moment, "V10")) or plan


def _too_long(moment: Moment, tokens: int, window: int) -> Plan:
    """The refusal of a prompt over the window, in the wire's words."""
    own = refusal(moment, "V23", tokens=tokens, window=window)
    return own or said.error(moment, 400, f"prompt is too long: {tokens} tokens > {window} maximum")
