"""What an answer of the model is worth beside its words: why it stopped, what it counted.

Which stop reasons end an answer early, what a status says of a second try, and what an answer asks
its caller to wait are read here once, for all checks.
"""

from __future__ import annotations

import math

from harness.core.history.events import Answered
from harness.core.history.exchanges import Exchange
from harness.core.values.messages import Json

TRUNCATED_STOPS = frozenset({"max_tokens", "length"})

_REFUSED = frozenset({"refusal", "content_filter"})

_FULL = "model_context_window_exceeded"

_TOOL_STOPS = frozenset({"tool_use", "tool_calls", "function_call"})

_CALLING_STOPS = _TOOL_STOPS | {"completed"}
"""Stop reasons of answers that may ask for tools."""

_BAD_STOPS: dict[str | None, str] = {
    **dict.fromkeys(_REFUSED, "refused"),
    **dict.fromkeys([*TRUNCATED_STOPS, _FULL, "incomplete", None], "truncated"),
    **dict.fromkeys([*_TOOL_STOPS, "pause_turn"], "unfinished"),
}
"""What is wrong with an answer that ends a turn; None: the terminal event is missing."""

FINAL_STOPS = _REFUSED | {_FULL}
"""Stop reasons after which the same request stops so again."""

CUT_STOPS = frozenset(stop for stop, wrong in _BAD_STOPS.items() if wrong != "unfinished")
"""Stop reasons after which a tool call may be part of one."""

WINDOW_RULES = frozenset({"V23", "V24"})
"""A prompt over the window is met by being told so; sending it is no invalid request."""

_OWN_ERRORS = ("limit.", "script.", "cassette.")
"""How the errors begin by which the harness answers for itself."""

_WRAPPER_ERRORS = ("prompt is too long", "api error")
"""How the messages of wrappers begin that stand for an error."""

_UNPARSED = "__unparsedToolInput"
"""The key under which some clients hand on an input that was cut in transit."""


def said_tokens(answered: Answered) -> int:
    """The tokens of an answer, 0 where nobody says: it broke off before its end, at which the usage
    stands, or faults changed the events of its stream, so that the caller may have been told other
    counts."""
    if not answered.complete or any(answered.layer_of(fault) == "sse" for fault in answered.faults):
        return 0
    said = answered.usage.get("output_tokens", answered.usage.get("completion_tokens"))
    return said if isinstance(said, int) else 0


def is_over_window(exchange: Exchange) -> bool:
    """Whether a request was over the window, by a rule of the dialect or by its status."""
    return bool(WINDOW_RULES.intersection(exchange.called.refused)) or exchange.status == 413


def is_uncounted(exchange: Exchange) -> bool:
    """Whether no token was counted, and so no model has said it but a wrapper around one."""
    usage = exchange.answered.usage if exchange.answered else {}
    return bool(usage) and not any(usage.values())


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


def calls_tools(exchange: Exchange) -> bool:
    """Whether the model's answer asks for tools and stopped to have them run."""
    return exchange.stop in _CALLING_STOPS and bool(exchange.reply and exchange.reply.tool_uses)


def plain(value: Json) -> Json:
    """An input with the spellings of nothing (`null`, `""`) as `{}`."""
    return {} if value is None or value == "" else value


def is_empty(value: Json) -> bool:
    """Whether an input says nothing: `{}`, `""`, null, or one that was cut in transit."""
    return plain(value) == {} or (isinstance(value, dict) and set(value) == {_UNPARSED})


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


def wrong(exchange: Exchange) -> str:
    """What is wrong with an answer as the last one of a turn; "" when it ended in order."""
    a = exchange.answered
    if a is None or (a.status or 200) >= 400 or a.outcome == "timeout":
        return "failed"
    if not a.complete:
        return "failed" if not a.blocks else "incomplete"
    if a.outcome != "ok":
        return "failed"
    if _is_synthetic(exchange):
        return "synthetic"
    return _BAD_STOPS.get(a.stop, "")


def _is_synthetic(exchange: Exchange) -> bool:
    """Whether a wrapper wrote the answer itself: it counts no token, and says that it failed."""
    usage = exchange.answered.usage if exchange.answered else {}
    counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
    said = exchange.reply.text.strip().lower() if exchange.reply else ""
    return counts == [0, 0] and said.startswith(_WRAPPER_ERRORS)
