"""Why a model stops: the core's words, and the fewer ones of this wire."""

from __future__ import annotations

_TO_WIRE = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}

_FROM_WIRE = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}


def finish_reason(stop: str | None) -> str | None:
    """The wire's word for a stop of the core; one that it has no word for is said as it is."""
    return _TO_WIRE.get(stop, stop) if stop is not None else None


def stop_from(reason: object) -> str | None:
    """The core's word for a finish reason; None when it is none."""
    return _FROM_WIRE.get(reason, reason) if isinstance(reason, str) else None
