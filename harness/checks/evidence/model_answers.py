"""What an answer of the model is worth beside its words: why it stopped, what it counted.

Which stop reasons end an answer early, what a status says of a second try, and what an answer asks
its caller to wait are read here once, for all checks.
"""

from __future__ import annotations

import math

from harness.core.history.events import Answered
from harness.core.history.exchanges import Exchange
from harness.core.values.messages import Json


def said_tokens(answered: Answered) -> int:
    """The tokens of an answer, 0 where nobody says: it broke off before its end, at which the usage
    stands, or faults changed the events of its stream, so that the caller may have been told other
    counts."""
    if not answered.complete or any(answered.layer_of(fault) == "sse" for fault in answered.faults):
        return 0
    said = answered.usage.get("output_tokens", answered.usage.get("completion_tokens"))
    return said if isinstance(said, int) else 0


WINDOW_RULES = frozenset({"V23", "V24"})
"""A prompt over the window is met by being told so; sending it is no invalid request."""


def is_over_window(exchange: Exchange) -> bool:
    """Whether a request was over the window, by a rule of the dialect or by its status."""
    return bool(WINDOW_RULES.intersection(exchange.called.refused)) or exchange.status == 413


def is_uncounted(exchange: Exchange) -> bool:
    """Whether no token was counted, and so no model has said it but a wrapper around one."""
    usage = exchange.answered.usage if exchange.answered else {}
    return bool(usage) and not any(usage.values())


_OWN_ERRORS = ("limit.", "script.", "cassette.")


def is_our_own(answered: Answered) -> bool:
    """Whether the harness answers for itself, as at a limit or at the script's end."""
    return answered.error.startswith(_OWN_ERRORS)


def asked_ms(retry_after: str) -> float:
    """The milliseconds that an answer asks to wait; 0 for a date, and for what no number is."""
    number, _, unit = retry_after.partition(" ")
    if unit not in ("", "ms"):
        return 0
    try:
        value = float(number) * (1 if unit else 1000)
    except ValueError:
        return 0
    return value if 0 < value < math.inf else 0


_TOOL_STOPS = frozenset({"tool_use", "tool_calls", "function_call", "completed"})


def calls_tools(exchange: Exchange) -> bool:
    """Whether the model's answer asks for tools and stopped to have them run."""
    return exchange.stop in _TOOL_STOPS and bool(exchange.reply and exchange.reply.tool_uses)


_UNPARSED = "__unparsedToolInput"
"""The key under which some clients hand on an input that was cut in transit."""


def plain(value: Json) -> Json:
    """An input with the spellings of nothing (`null`, `""`) as `{}`."""
    return {} if value is None or value == "" else value


def is_empty(value: Json) -> bool:
    """Whether an input says nothing: `{}`, `""`, null, or one that was cut in transit."""
    return plain(value) == {} or (isinstance(value, dict) and set(value) == {_UNPARSED})


TRUNCATED_STOPS = frozenset({"max_tokens", "length"})

FINAL_STOPS = frozenset({"refusal", "content_filter", "model_context_window_exceeded"})


def fails_for_good(exchange: Exchange) -> bool:
    """Whether the answer says so, and its bytes came as the provider meant them: an agent cannot
    know a stop reason that its SDK fails to read, nor a status whose body broke off."""
    if exchange.stop in FINAL_STOPS:
        return not exchange.is_bent_by("http", "sse", "transport")
    failed = (exchange.status or 0) >= 400 and not exchange.transient
    return failed and not exchange.is_bent_by("transport")


def failure_words(exchange: Exchange) -> str:
    """A failure in a few words."""
    if exchange.stop in FINAL_STOPS or exchange.stop in TRUNCATED_STOPS:
        return f"stopped with {exchange.stop}"
    if exchange.succeeded:
        return "was answered with nothing, as before,"
    return f"was answered {exchange.status}"
