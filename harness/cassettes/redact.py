"""What a recording may hold: an allowlist of headers, and text without keys.

Headers are kept by name, for what is new is unknown. Everything else is masked by the shapes of
known keys; a mask is shorter than any key and no part of one, so masking twice is masking once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from harness.core.messages import Json

MASK = "[REDACTED]"
_URL_MASK = "REDACTED"

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

_PEM = (
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[A-Za-z0-9+/=\s:,.-]|\\[nrt])*?"
    r"(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"|(?![A-Za-z0-9+/=\s:,.-]|\\[nrt]))"
)

SHAPES: dict[str, str] = {
    "private key (PEM)": _PEM,
    "bearer token": r"(?i:(?<=bearer ))[A-Za-z0-9._~+/=-]{16,}",
    "Anthropic": r"sk-ant-[A-Za-z0-9_-]{8,}",
    "OpenAI and alike": r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}",
    "AWS access key id": r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    "GitHub": r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    "Slack": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    "Google": r"AIza[A-Za-z0-9_-]{35}",
    "JSON web token": r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
}
"""The known shapes of keys, by whose they are."""

_SECRET = re.compile("|".join(f"(?:{shape})" for shape in SHAPES.values()))
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
    """The text with every known shape of a key replaced."""
    while (masked := _SECRET.sub(by, text)) != text:
        text = masked
    return text


def spans(text: str) -> list[tuple[int, int]]:
    """Where keys stand in a text."""
    return [match.span() for match in _SECRET.finditer(text)]


def mask_value(value: Json) -> Json:
    """A JSON value with every text in it masked, names too."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, (list, tuple)):
        return [mask_value(item) for item in value]
    if isinstance(value, dict):
        return {mask_value(name): mask_value(item) for name, item in value.items()}
    return value


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
