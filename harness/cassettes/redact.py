"""What a recording may hold: an allowlist of headers, and text without keys.

Headers are kept by name, for what is new is unknown. Everything else is masked by what a secret
looks like (`shapes`); a mask is no part of one, so masking twice is masking once. JSON that stands
in a JSON text, as tool arguments do, is masked as JSON too: a key may be spelt with escapes there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from harness.cassettes.shapes import is_named, spans
from harness.core.values.messages import Json
from harness.providers.shared.codec import decode, encode

MASK = "[REDACTED]"
_URL_MASK = "REDACTED"
_REMEMBERED_MOST_CHARS = 4096

_KEPT = frozenset(
    {
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
        "x-should-retry",
    }
)
_KEPT_PREFIXES = ("anthropic-ratelimit-", "x-ratelimit-")

_QUERY_SECRET = re.compile(r"key|token|secret|signature|password|auth|credential|^sig$", re.I)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that a recording keeps, in small letters, masked."""
    names = {name.lower(): value for name, value in headers.items()}
    return {
        name: mask(value)
        for name, value in names.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }


def mask(text: str, by: str = MASK) -> str:
    """The text with everything in it replaced that looks like a secret."""
    return _masked(text, by) if len(text) > _REMEMBERED_MOST_CHARS else _known_masked(text, by)


def _masked(text: str, by: str) -> str:
    while found := spans(text):
        kept, at = [], 0
        for start, end, _ in found:
            kept += [text[at:start], by]
            at = end
        text = "".join(kept) + text[at:]
    return text


_known_masked = lru_cache(maxsize=8192)(_masked)
"""Each request says again what the one before said."""


def mask_value(value: Json) -> Json:
    """A JSON value with every text in it masked, names too."""
    if isinstance(value, str):
        return _mask_text(value)
    if isinstance(value, (list, tuple)):
        return [mask_value(item) for item in value]
    if isinstance(value, dict):
        return {mask_value(name): _mask_item(name, item) for name, item in value.items()}
    return value


def _mask_item(name: Json, value: Json) -> Json:
    both_texts = isinstance(name, str) and isinstance(value, str)
    return MASK if both_texts and is_named(name, value) else mask_value(value)


def _mask_text(text: str) -> str:
    """A text masked; one that is JSON stays JSON."""
    if text[:1] in ("{", "["):
        try:
            value = decode(text)
            masked = mask_value(value)
            return text if masked == value else encode(masked).decode()
        except (ValueError, RecursionError):
            pass
    return mask(text)


def mask_url(url: str) -> str:
    """A URL without user, password and fragment; keys in it, and values of query keys, masked."""
    parts = urlsplit(mask(url, _URL_MASK))
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(_pair(pair) for pair in parts.query.split("&") if pair)
    return urlunsplit((parts.scheme, host, _quoted(parts.path), query, ""))


def _pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if equals and _QUERY_SECRET.search(unquote(name)):
        return f"{_quoted(name)}={_URL_MASK}"
    return _quoted(name) + equals + _quoted(value)


def _quoted(text: str) -> str:
    """A part of a URL, masked as what it says when its escapes are read."""
    said = unquote(text)
    masked = mask(said, _URL_MASK)
    return text if masked == said else quote(masked, safe="/:@,;")
