"""What a recording may hold: an allowlist of headers, and texts and bodies without keys.

Headers need an allowlist, because an unknown header may be a secret. A body without keys keeps its
bytes. JSON is masked value by value, and within strings too, because escapes may hide a key. A
model streams a key in pieces, so the deltas of one block are masked as one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from harness import providers
from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.providers.shared import sse
from harness.providers.shared.codec import decode, encode
from harness.providers.shared.event_stream import (
    event_frame,
    exception_frame,
    is_framed,
    readable_sse,
)
from harness.providers.shared.json_fields import parse
from harness.redaction.named_secrets import is_named, kind_of
from harness.redaction.secret_patterns import SecretSpan, spans

MASK = "[REDACTED]"
_URL_MASK = "REDACTED"
_REMEMBERED_MOST_CHARS = 4096

_KEPT = frozenset(
    {
        *(record.headers.request_id for record in providers.records()),
        *(name for record in providers.records() for name in record.headers.kept),
        "content-type",
        "retry-after",
        "retry-after-ms",
        "x-should-retry",
    }
)
_KEPT_PREFIXES = tuple({record.headers.rate_limits for record in providers.records()})

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
        return [_mask_item(flag, item) for flag, item in zip(_flags(value), value, strict=True)]
    if isinstance(value, dict):
        said = _named_elsewhere(value)
        return {
            mask_value(name): _mask_item(said if said and name in _VALUES else name, item)
            for name, item in value.items()
        }
    return value


_NAMES, _VALUES = ("name", "key"), ("value",)


def _named_elsewhere(value: dict[str, Json]) -> str:
    """The name in an object that says it beside its value: `{"name": "API_KEY", "value": …}`."""
    if "value" not in value:
        return ""
    return next((name for n in _NAMES if isinstance(name := value.get(n), str)), "")


def _flags(items: Sequence[Json]) -> Iterator[str]:
    """For each item of a list the flag before it: `["--token", …]` is a command and its values."""
    flag = ""
    for item in items:
        yield flag
        flag = item if isinstance(item, str) and item.startswith("--") else ""


def _mask_item(name: Json, value: Json) -> Json:
    if not isinstance(name, str) or not isinstance(value, str) or not kind_of(name):
        return mask_value(value)
    if is_named(name, value):
        return MASK
    head = f"{name}: "
    masked = mask(head + value)
    return masked[len(head) :] if masked.startswith(head) else MASK


def _mask_text(text: str) -> str:
    """A text masked; an object or a list in JSON stays JSON."""
    return _mask_plain_body(text) if text[:1] in ("{", "[") else mask(text)


def mask_url(url: str) -> str:
    """A URL without user, password and fragment; keys in it, and values of query keys, masked.

    What cannot be taken apart is masked whole, for its password cannot be told from its host.
    """
    try:
        parts = urlsplit(mask(url, _URL_MASK))
    except ValueError:
        return _URL_MASK
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(_pair(pair) for pair in parts.query.split("&") if pair)
    return urlunsplit((parts.scheme, host, _quoted(parts.path), query, ""))


def _pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if equals and _QUERY_SECRET.search(unquote(name)):
        return f"{_quoted(name)}={_URL_MASK}"
    return _quoted(name) + equals + _quoted(value)


def _quoted(text: str) -> str:
    """A part of a URL, masked after its escapes are decoded."""
    said = unquote(text)
    masked = mask(said, _URL_MASK)
    return text if masked == said else quote(masked, safe="/:@,;")


_Place: TypeAlias = tuple[dict[str, Json], str]
"""An object and the name under which it holds a piece of text."""

_INDICES = ("index", "output_index", "content_index")


def mask_body(body: bytes, content_type: str = "") -> bytes:
    """A body with every known shape of a key masked."""
    if is_framed(content_type):
        return _mask_frames(body)
    try:
        text, charset = body.decode(), "utf-8"
    except UnicodeDecodeError:
        text, charset = body.decode("latin-1"), "latin-1"
    is_stream = "event-stream" in content_type or text.startswith(("event:", "data:"))
    masked = _mask_stream(text) if is_stream else _mask_plain_body(text)
    return body if masked == text else masked.encode(charset)


def _mask_frames(body: bytes) -> bytes:
    """Frames whose events hold a key are written again, up to the first torn frame."""
    told = readable_sse(body).decode("utf-8", "surrogateescape")
    masked = _mask_stream(told)
    if masked == told:
        return body
    return b"".join(
        exception_frame(*_error_said(event.data))
        if event.name == "error"
        else event_frame(event.data.encode("utf-8", "surrogateescape"))
        for event in sse.events(masked)
    )


def _error_said(data: str) -> tuple[str, str]:
    error = f.mapping(f.mapping(parse(data)).get("error"))
    return f.text(error.get("type")), f.text(error.get("message"))


def mask_line(line: bytes) -> bytes:
    """A document of JSON that we write ourselves, masked; without secrets it is as it was."""
    text = line.decode("utf-8", "surrogatepass")
    return line if (masked := _mask_plain_body(text)) == text else masked.encode()


def _mask_plain_body(text: str) -> str:
    try:
        value = decode(text)
        masked = mask_value(value)
        return text if masked == value else encode(masked).decode()
    except (ValueError, RecursionError):
        return mask(text)


def _mask_stream(text: str) -> str:
    lines = text.splitlines(keepends=True)
    events = {n: value for n, line in enumerate(lines) if (value := _data(line)) is not None}
    pieces: dict[object, list[_Place]] = {}
    for value in events.values():
        for group, place in _deltas(value, ()):
            pieces.setdefault(group, []).append(place)
    for group in pieces.values():
        _mask_pieces(group)
    return "".join(
        _line(line, events[n]) if n in events else mask(line) for n, line in enumerate(lines)
    )


def _data(line: str) -> Json:
    """The object that a line of a stream carries, None if it carries none."""
    value = parse(line.removeprefix("data:")) if line.startswith("data:") else None
    return value if isinstance(value, dict) else None


def _line(line: str, value: Json) -> str:
    masked = mask_value(value)
    if masked == _data(line):
        return line
    end = line[len(line.rstrip("\r\n")) :]
    return f"data: {encode(masked).decode()}{end}"


def _deltas(value: Json, path: tuple[object, ...]) -> Iterator[tuple[object, _Place]]:
    """The pieces of text below `delta`, each with the text that it is a piece of."""
    if isinstance(value, list):
        for item in value:
            yield from _deltas(item, path)
    if not isinstance(value, dict):
        return
    path = (*path, *(value.get(name) for name in _INDICES))
    for name, part in value.items():
        below = (*path, name)
        if isinstance(part, str) and "delta" in below:
            yield below, (value, name)
        elif isinstance(part, (dict, list)):
            yield from _deltas(part, below)


def _mask_pieces(places: list[_Place]) -> None:
    """Mask the joined pieces; the first piece of a key gets the mask."""
    while found := spans("".join(holder[name] for holder, name in places)):
        start = 0
        for holder, name in places:
            piece = holder[name]
            holder[name] = _cut(piece, start, found)
            start += len(piece)


def _cut(piece: str, start: int, found: list[SecretSpan]) -> str:
    """A piece that begins at `start` of the whole, without its part of the keys."""
    kept, at, end = "", start, start + len(piece)
    for first, last, _ in found:
        if last <= at or first >= end:
            continue
        kept += piece[at - start : max(first, at) - start]
        kept += MASK if first >= start else ""
        at = min(last, end)
    return kept + piece[at - start :]
