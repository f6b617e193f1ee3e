"""What a recording may hold: an allowlist of headers, and texts and bodies without keys.

Headers need an allowlist, because an unknown header may be a secret. A body without keys keeps its
bytes. JSON is masked value by value, and within strings too, because escapes may hide a key. A
model streams a key in pieces, so the deltas of one block are masked as one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from harness import providers
from harness.core.values.machine_names import without_token
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
_DEPTH_MOST = 100
"""How deep a value is searched that is too deep to be searched wholly. Searching takes three frames
a level, and Python allows 1,000 together."""

_PASSES_MOST = 8
"""How often a text is searched again, since a mask may complete a shape. Two passes are usual; what
still holds a secret then is masked whole."""

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
    for _ in range(_PASSES_MOST):
        if not (found := spans(text)):
            return text
        kept, at = [], 0
        for start, end, _ in found:
            kept += [text[at:start], by]
            at = end
        text = "".join(kept) + text[at:]
    return by


_known_masked = lru_cache(maxsize=8192)(_masked)
"""Each request says again what the one before said."""


def mask_value(value: Json) -> Json:
    """A JSON value with every text in it masked, names too; what is nested too deep, whole."""
    try:
        return mask_whole_value(value)
    except RecursionError:
        return mask_whole_value(_shallow(value, ()))


def _shallow(value: Json, above: tuple[int, ...]) -> Json:
    """A value that keeps its form, with the mask for what nests too deep or contains itself."""
    if not isinstance(value, (list, tuple, dict)):
        return value
    if len(above) == _DEPTH_MOST or id(value) in above:
        return MASK
    above = (*above, id(value))
    if isinstance(value, dict):
        return {name: _shallow(item, above) for name, item in value.items()}
    return [_shallow(item, above) for item in value]


def mask_whole_value(value: Json) -> Json:
    """As `mask_value`, but raises RecursionError for a value that is nested too deep."""
    if isinstance(value, str):
        return _mask_text(value)
    if isinstance(value, (list, tuple)):
        return [_mask_item(flag, item) for flag, item in zip(_flags(value), value, strict=True)]
    if isinstance(value, dict):
        said = _named_elsewhere(value)
        return {
            mask_whole_value(name): _mask_item(said if said and name in _VALUES else name, item)
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
    program, flag = "", ""
    for item in items:
        yield flag
        said = item if isinstance(item, str) else ""
        program = program or ("curl " if said.endswith("curl") else "")
        is_user = program and said in ("-u", "--user")
        flag = f"{program}{said}" if is_user else said if said.startswith("--") else ""


def _mask_item(name: Json, value: Json) -> Json:
    if not isinstance(name, str) or not isinstance(value, str):
        return mask_whole_value(value)
    is_user = name.startswith("curl ")
    if not is_user and not kind_of(name):
        return _mask_text(value)
    if is_named(name, value):
        return MASK
    head = f"{name} " if is_user else f"{name}: "
    masked = mask(head + value)
    return masked[len(head) :] if masked.startswith(head) else MASK


def _mask_text(text: str) -> str:
    """A text masked; an object or a list in JSON stays JSON."""
    return _mask_plain_body(text) if text[:1] in ("{", "[") else mask(text)


def mask_url(url: str) -> str:
    """A URL without user, password, fragment and our token; keys, and values of query keys, masked.

    What cannot be taken apart is masked whole, for its password cannot be told from its host.
    """
    try:
        parts = urlsplit(mask(without_token(url), _URL_MASK))
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


_Place: TypeAlias = tuple[dict[str, Json] | list[Json], Any]
"""An object or a list, and where it holds a piece of text."""

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
    return _masked_line(line) if len(line) > _REMEMBERED_MOST_CHARS else _known_line(line)


def _masked_line(line: bytes) -> bytes:
    text = line.decode("utf-8", "surrogatepass")
    return line if (masked := _mask_plain_body(text)) == text else masked.encode()


_known_line = lru_cache(maxsize=4096)(_masked_line)
"""A campaign writes the same event in many runs: in a sweep, four lines of five."""


def _mask_plain_body(text: str) -> str:
    try:
        value = decode(text)
        masked = mask_whole_value(value)
        return text if masked == value else encode(masked).decode()
    except (ValueError, RecursionError):
        return mask(text)


def _mask_stream(text: str) -> str:
    lines = text.splitlines(keepends=True)
    said = {n: _data(line) for n, line in enumerate(lines) if line.startswith("data:")}
    try:
        mask_joined(said.values())
        return "".join(
            _line(line, said[n]) if n in said else mask(line) for n, line in enumerate(lines)
        )
    except RecursionError:
        return "".join(map(mask, lines))


def _data(line: str) -> dict[str, Json]:
    """The object that a line of a stream carries; any other text as an object that holds it."""
    value = parse(line.removeprefix("data:"))
    return value if isinstance(value, dict) else {_TEXT: line.removeprefix("data:").strip("\r\n")}


_TEXT = "data:"
"""The name of a text that stands alone."""


def _line(line: str, value: dict[str, Json]) -> str:
    if value.keys() == {_TEXT}:
        said = mask(f"data:{value[_TEXT]}")
    else:
        masked = mask_whole_value(value)
        if masked == _data(line):
            return line
        said = f"data: {encode(masked).decode()}"
    return said + line[len(line.rstrip("\r\n")) :]


def mask_joined(events: Iterable[Json]) -> None:
    """Take the secrets that a model streamed in pieces out of the events, in place."""
    for places in joined_texts(events).values():
        _mask_pieces(places)


def joined_texts(events: Iterable[Json]) -> dict[object, list[_Place]]:
    """The texts that stand in several pieces at one place of the events of a stream."""
    found: dict[object, list[_Place]] = {}
    for event in events:
        for group, holder, name in _pieces(event, ()):
            found.setdefault(group, []).append((holder, name))
    return {
        group: places
        for group, places in found.items()
        # An id or a type is the same in each event.
        if len({holder[name] for holder, name in places}) > 1
    }


def _pieces(
    value: Json, path: tuple[object, ...]
) -> Iterator[tuple[object, dict[str, Json] | list[Json], Any]]:
    """The texts of an event: the place of each, its holder, and its name there.

    An entry of a list is known by its own index, if it says one, since a later event may hold it
    alone.
    """
    if isinstance(value, dict):
        path = (*path, *_index(value))
        items: Iterable[tuple[Any, Json]] = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return
    for name, part in items:
        below = path if isinstance(name, int) and _index(part) else (*path, name)
        if isinstance(part, str):
            yield below, value, name
        else:
            yield from _pieces(part, below)


def _index(part: Json) -> tuple[object, ...]:
    said = tuple(part.get(name) for name in _INDICES) if isinstance(part, dict) else ()
    return said if any(one is not None for one in said) else ()


def _mask_pieces(places: Sequence[_Place]) -> None:
    """Mask the joined pieces; the first piece of a key gets the mask."""
    for _ in range(_PASSES_MOST):
        pieces = [holder[name] for holder, name in places]
        if not (found := spans("".join(pieces))):
            return
        for (holder, name), piece in zip(places, _cut(pieces, found), strict=True):
            holder[name] = piece
    for holder, name in places:
        holder[name] = MASK


def _cut(pieces: Sequence[str], found: Sequence[SecretSpan]) -> Iterator[str]:
    """The pieces of a text without their parts of its keys."""
    start = number = 0
    for piece in pieces:
        kept, at, end = "", start, start + len(piece)
        while number < len(found) and found[number].start < end:
            first, last, _ = found[number]
            kept += piece[at - start : max(first, at) - start]
            kept += MASK if first >= start else ""
            at = min(last, end)
            if last > end:
                break  # it goes on in the next piece
            number += 1
        yield kept + piece[at - start :]
        start = end
