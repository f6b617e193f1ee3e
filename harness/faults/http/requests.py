"""Errors about the request itself: the same request meets them again.

The provider words a broken rule. Faults of a narrower model or a stricter check strike only
requests that break the rule; elsewhere they are the identity.
"""

from __future__ import annotations

from typing import Literal

from harness.core.transition.ports import Moment
from harness.core.values.messages import Text
from harness.core.values.plans import Plan
from harness.core.values.strict import FromOne
from harness.faults.shared.error_answers import error, refusal, too_long

STAGE = "value"
SEAMS = ("model",)
CODES = {
    "invalid_request": ("H1",),
    "prompt_too_long": ("H2",),
    "compaction_refused": ("H3",),
    "prefill_refused": ("H18",),
    "system_role_refused": ("H18",),
    "thinking_type_refused": ("H18",),
    "tightened_whitespace": ("H19",),
    "thread_not_found": ("H17",),
    "thread_already_continued": ("H17",),
    "thread_continue_in_flight": ("H7", "H17"),
    "thread_fingerprint_mismatch": ("H17",),
    "thread_unsupported_request": ("H17",),
}
WIRES = {
    "*": ("anthropic",),
    **dict.fromkeys(("invalid_request", "prompt_too_long", "compaction_refused"), ()),
}


def invalid_request(moment: Moment, plan: Plan, *, rule: str = "", message: str = "") -> Plan:
    """400 for a rule of the wire's validator, broken or not: its own type and words.

    `rule` is the rule's id (`V4`), the wire's first one if not given; `message` replaces the words.
    """
    rule = rule or next(iter(moment.refusals), "")
    if message:
        return error(moment, 400, message)
    return refusal(moment, rule) or plan


def prompt_too_long(
    moment: Moment, plan: Plan, *, tokens: FromOne = 208_380, window: FromOne = 200_000
) -> Plan:
    """400: the prompt does not fit the model's window, with both numbers in the text."""
    return too_long(moment, tokens, window)


def compaction_refused(
    moment: Moment, plan: Plan, *, tokens: FromOne = 208_380, window: FromOne = 200_000
) -> Plan:
    """400 for the very request that should make the conversation shorter: it is too long too."""
    return too_long(moment, tokens, window) if moment.call.purpose == "compact" else plan


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


def thread_not_found(moment: Moment, plan: Plan) -> Plan:
    """404: the server has lost the thread."""
    return _refused(moment, "thread_not_found") or plan


def thread_already_continued(moment: Moment, plan: Plan) -> Plan:
    """400: the answer that the request continues has been continued already."""
    return _refused(moment, "thread_already_continued") or plan


def thread_continue_in_flight(moment: Moment, plan: Plan) -> Plan:
    """400: another request that continues the same answer is not over yet."""
    if not _previous(moment):
        return plan
    text = "thread: another request is still continuing from the same `previous_message_id`"
    return error(moment, 400, text, code="thread_continue_in_flight")


def thread_fingerprint_mismatch(moment: Moment, plan: Plan) -> Plan:
    """400: a field that must stay the same over a thread has changed."""
    return _refused(moment, "thread_fingerprint_mismatch", names="`tools`") or plan


def thread_unsupported_request(moment: Moment, plan: Plan) -> Plan:
    """400: threads cannot be used with this request."""
    asks = isinstance(moment.call.settings.get("thread"), dict)
    return (asks and refusal(moment, "thread_unsupported_request")) or plan


def _refused(moment: Moment, code: str, **values: object) -> Plan | None:
    previous = _previous(moment)
    return refusal(moment, code, id=previous, **values) if previous else None


def _previous(moment: Moment) -> str:
    """The answer that the request continues, "" when it continues none."""
    thread = moment.call.settings.get("thread")
    named = thread.get("previous_message_id") if isinstance(thread, dict) else None
    return named if isinstance(named, str) else ""
