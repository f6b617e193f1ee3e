"""Answers without content, wire by wire, for the fault that sends one; nothing here is a fault.

No wire would write them, for a reply has blocks or none, and never null.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.core.values.plans import Head, Plan, Send

_JSON = Head(200, {"content-type": "application/json"})
_STREAM = Head(200, {"content-type": "text/event-stream; charset=utf-8"})


def body(wire: str, model: str) -> Plan:
    """A plain answer whose content is null."""
    return (Send(msgspec.json.encode(_MESSAGES[wire](model)), _JSON),)


def stream(wire: str, model: str) -> Plan:
    """A stream of one whose content is null."""
    first, *others = _EVENTS[wire](_MESSAGES[wire](model))
    return (Send(first, _STREAM), *map(Send, others))


def _anthropic(model: str) -> dict[str, Any]:
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": None,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _chat(model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": None, "refusal": None}
    return {
        "id": "chatcmpl-01",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _responses(model: str) -> dict[str, Any]:
    return {
        "id": "resp_01",
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": "completed",
        "output": None,
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
    }


def _anthropic_events(message: dict[str, Any]) -> list[bytes]:
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        _event("message_start", message={**message, "stop_reason": None}),
        _event("message_delta", delta=ending, usage={"output_tokens": 1}),
        _event("message_stop"),
    ]


def _chat_events(whole: dict[str, Any]) -> list[bytes]:
    delta = {"role": "assistant", "content": None}
    choice = {"index": 0, "delta": delta, "finish_reason": "stop"}
    chunk = {**whole, "object": "chat.completion.chunk", "choices": [choice]}
    return [b"data: " + msgspec.json.encode(chunk) + b"\n\n", b"data: [DONE]\n\n"]


def _responses_events(response: dict[str, Any]) -> list[bytes]:
    begun = {**response, "status": "in_progress"}
    return [
        _event("response.created", sequence_number=0, response=begun),
        _event("response.completed", sequence_number=1, response=response),
    ]


def _event(name: str, **fields: Any) -> bytes:
    data = msgspec.json.encode({"type": name, **fields})
    return f"event: {name}\n".encode() + b"data: " + data + b"\n\n"


_MESSAGES = {"anthropic": _anthropic, "openai-chat": _chat, "openai-responses": _responses}
_EVENTS = {
    "anthropic": _anthropic_events,
    "openai-chat": _chat_events,
    "openai-responses": _responses_events,
}
