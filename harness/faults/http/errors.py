"""Errors of the provider: keys and money, overload, trouble of its own, and the request itself.

The SDK marks its retries with a header, so the history tells retry layers apart. Statuses, types,
codes and texts are those of the provider's `error_words.tsv`, and those of a broken rule are its
own. Faults of a narrower model or a stricter check strike only requests that break the rule;
elsewhere they are the identity.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Text
from harness.core.values.pictures import pictures_in
from harness.core.values.plans import Plan
from harness.core.values.strict import FromOne
from harness.faults.shared.error_answers import error, page, refusal, too_long, type_of, words_of

STAGE = "value"

_OF_REQUESTS = (
    *("invalid_request", "prompt_too_long", "compaction_refused", "prefill_refused"),
    *("system_role_refused", "thinking_type_refused", "tightened_whitespace"),
    *("thread_continue_in_flight", "thread_unsupported_request"),
)
"""Errors about the request itself: the same request meets them again."""

SEAMS = {
    "*": ("model", "tool", "inbox", "outbox", "provider"),
    **dict.fromkeys(_OF_REQUESTS, ("model",)),
    **dict.fromkeys(("picture_refused", "tools_refused"), ("model",)),
}
WIRES = {
    **dict.fromkeys(_OF_REQUESTS[3:], ("anthropic",)),
    "retry_after_ms": ("anthropic", "openai-chat", "openai-responses"),
}

_STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 429, 500, 503)
_WAITS = (0, 20.0, 3600.0, "soon", "-1", "nan")
# Values that no type gives.
DRAWN = {
    "status": ({}, *({"status": status} for status in _STATUSES)),
    "retry_after": ({}, *({"retry_after": wait} for wait in _WAITS)),
    # An agent with one model has no better request, so a drawn one would tell nothing.
    "tools_refused": (),
}

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
        retry_after = _seconds(retry_after * moment.harder)
    headers = {} if retry_after is None else {"retry-after": f"{retry_after}"}
    if should_retry is not None:
        headers["x-should-retry"] = str(should_retry).lower()
    if page:
        return _page(status, message or words_of(type or type_of(status)), headers)
    return error(moment, status, message, type=type, headers=headers, stated=True)


def rate_limited_without_retry_after(moment: Moment, plan: Plan) -> Plan:
    """429 that does not say when to come back; the headers say that nothing is left."""
    headers = {moment.traits.requests_left: "0"}
    return error(moment, 429, headers=headers)


def retry_after(moment: Moment, plan: Plan, *, retry_after: str | float = 1.0) -> Plan:
    """429 with a `retry-after`: seconds, a date in HTTP's form, or a malformed value.

    Real ones were seen with 0, negative, huge and past values. With `then: escalate` a number
    doubles.
    """
    if not isinstance(retry_after, str):
        retry_after = _seconds(retry_after * moment.harder)
    return error(moment, 429, headers={"retry-after": retry_after})


def _seconds(value: float) -> str:
    """A wait as RFC 9110 writes it: "20", never "20.0", because a client may read digits alone."""
    return f"{int(value) if float(value).is_integer() else value}"


def retry_after_ms(moment: Moment, plan: Plan, *, retry_after_ms: float = 250.0) -> Plan:
    """429 with `retry-after-ms`, which SDKs prefer, and a longer `retry-after`."""
    # A client that knows the standard header alone must wait as long as was asked for, too.
    wait_ms = retry_after_ms * moment.harder
    longer = str(max(30, math.ceil(wait_ms / 1000)))
    return error(moment, 429, headers={"retry-after-ms": f"{wait_ms:g}", "retry-after": longer})


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


def picture_refused(moment: Moment, plan: Plan) -> Plan:
    """400 for each request that holds a picture, wherever it stands: the provider cannot read it.

    With `often: forever` the conversation is refused until the agent takes the picture out. No rule
    of the API tells such a picture from others, so no agent can know before.
    """
    blocks = (block for message in moment.call.messages for block in message.blocks)
    holds = any(map(pictures_in, blocks))
    return error(moment, 400, type="picture_refused") if holds else plan


def tools_refused(moment: Moment, plan: Plan) -> Plan:
    """400 for each request that offers tools: this model takes none.

    To be armed with `often: forever`, and with `provider` or `models` for a second model.
    """
    return error(moment, 400, type="tools_refused") if moment.call.tools else plan


def thread_continue_in_flight(moment: Moment, plan: Plan) -> Plan:
    """400: another request that continues the same answer is not over yet."""
    if not _previous(moment):
        return plan
    text = "thread: another request is still continuing from the same `previous_message_id`"
    return error(moment, 400, text, code="thread_continue_in_flight")


def thread_unsupported_request(moment: Moment, plan: Plan) -> Plan:
    """400: threads cannot be used with this request."""
    asks = isinstance(moment.call.settings.get("thread"), dict)
    return (asks and refusal(moment, "thread_unsupported_request")) or plan


def _continued(moment: Moment, plan: Plan, *, rule: str, names: str = "") -> Plan:
    """A template of presets: the server refuses the answer that the request continues."""
    previous = _previous(moment)
    return (previous and refusal(moment, rule, id=previous, names=names)) or plan


def _previous(moment: Moment) -> str:
    """The answer that the request continues, "" when it continues none."""
    settings = moment.call.settings
    thread = settings.get("thread")
    named = thread.get("previous_message_id") if isinstance(thread, dict) else None
    named = named or settings.get("previous_response_id")
    return named if isinstance(named, str) else ""
