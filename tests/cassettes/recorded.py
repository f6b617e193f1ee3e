"""Cassettes made by hand for tests, in the words of vcrpy's own writer."""

from __future__ import annotations

import json
from typing import Any

import yaml

ASK: dict[str, Any] = {
    "model": "claude-x",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hi"}],
}
URI = "https://api.anthropic.com/v1/messages"


def said(text: str) -> dict[str, Any]:
    """An answer of the model."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def interaction(
    request: Any = None,
    answer: Any = None,
    *,
    uri: str = URI,
    status: int = 200,
    headers: dict[str, list[str]] | None = None,
) -> dict[str, Any]:
    """An interaction; a request or answer that is not text or bytes is written as JSON."""
    return {
        "request": {
            "method": "POST",
            "uri": uri,
            "body": _body(ASK if request is None else request),
            "headers": {"content-type": ["application/json"]},
        },
        "response": {
            "status": {"code": status, "message": "OK"},
            "headers": headers or {"content-type": ["application/json"]},
            "body": {"string": _body(said("hello") if answer is None else answer)},
        },
    }


def _body(value: Any) -> Any:
    return value if isinstance(value, (str, bytes)) else json.dumps(value)


def cassette(*interactions: dict[str, Any]) -> bytes:
    """The file of these interactions."""
    text = yaml.dump({"version": 1, "interactions": list(interactions)})
    assert isinstance(text, str)
    return text.encode()
