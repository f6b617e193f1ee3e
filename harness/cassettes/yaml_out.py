"""Cassettes as YAML: in the words of vcrpy, which every tool of the field reads, and of cassetter.

Both keep bodies as text where they are text. cassetter keeps JSON as YAML too; here only JSON that
comes back byte for byte is kept so. It has no words for a status (`reason`), so they are written
only where they are not the standard ones; what it does not know it leaves alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

from harness.core.values.messages import Json
from harness.providers.shared.codec import decode, encode
from harness.recordings.bodies import BASE64
from harness.recordings.interaction import Cassette, Interaction, phrase

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def vcr(cassette: Cassette) -> bytes:
    """The file as vcrpy writes it."""
    return _dumped(cassette, _vcr_interaction)


def cassetter(cassette: Cassette) -> bytes:
    """The file as cassetter writes it."""
    return _dumped(cassette, _cassetter_interaction)


def _dumped(cassette: Cassette, interaction: Callable[[Interaction], dict[str, Json]]) -> bytes:
    held: dict[str, Json] = {"interactions": [interaction(item) for item in cassette.interactions]}
    if cassette.metadata:
        held["metadata"] = cassette.metadata
    text: str = yaml.dump(
        {**held, "version": 1}, Dumper=_Dumper, sort_keys=False, allow_unicode=True
    )
    return text.encode()


def _vcr_interaction(item: Interaction) -> dict[str, Json]:
    return {
        "request": {
            "body": _text(item.request_body),
            "headers": item.request_headers,
            "method": item.method,
            "uri": item.uri,
        },
        "response": {
            "body": {"string": _text(item.response_body) or ""},
            "headers": item.response_headers,
            "status": {"code": item.status, "message": item.reason},
        },
        **item.more,
    }


def _text(body: bytes) -> str | bytes | None:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body
    return body if text.startswith(BASE64) else text or None


def _cassetter_interaction(item: Interaction) -> dict[str, Json]:
    reason = {} if item.reason == phrase(item.status) else {"reason": item.reason}
    return {
        "request": {
            "method": item.method,
            "uri": item.uri,
            "headers": item.request_headers,
            "body": _typed(item.request_body),
        },
        "response": {
            "status": item.status,
            **reason,
            "headers": item.response_headers,
            "body": _typed(item.response_body),
        },
        **item.more,
    }


def _typed(body: bytes) -> dict[str, Json]:
    if not body:
        return {"type": "none"}
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"type": "binary", "content": body.hex()}
    value = _json(text)
    if value is not None:
        return {"type": "json", "content": value}
    return {"type": "text", "content": text}


def _json(text: str) -> Json:
    """The object or list that a text is, if it is written anew as it stands."""
    if text[:1] not in "{[":
        return None
    try:
        value = decode(text)
        return value if encode(value) == text.encode() else None
    except (ValueError, RecursionError):
        return None
