"""A cassette from one format into another: without secrets, and else without loss.

The output is read back before it reaches the disk. A difference in bodies, headers, status or notes
is an error; key order and layout may differ. cassetter keeps JSON as YAML: here only JSON that is
restored byte for byte. It omits the reason phrase, so `reason` is written only where it is not the
standard one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import yaml

from harness.cassettes.cassette_file import load_cassette, notes_of, parse_cassette
from harness.cassettes.cassette_redaction import redacted
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json, printable
from harness.files.regular_file import write_atomically
from harness.providers.shared.codec import decode, encode
from harness.recordings.http_interaction import BASE64, Cassette, Interaction, as_vcr, phrase
from harness.recordings.readers import compact
from harness.redaction.encoder import encoded

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
    held["version"] = 1
    said = printable(held)  # YAML cannot say half a surrogate pair; it becomes its escape
    return encoded(yaml.dump(said, Dumper=_Dumper, sort_keys=False, allow_unicode=True))


def _vcr_interaction(item: Interaction) -> dict[str, Json]:
    return {**as_vcr(item, _text), **item.more}


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
    """The object or list in a text, if encoding it again gives the same text.

    JSON escapes half a surrogate pair, and YAML has no way to: such a text stays a text.
    """
    if text[:1] not in "{[" or "\\ud" in text.lower():
        return None
    try:
        value = decode(text)
        return value if encode(value) == text.encode() else None
    except (ValueError, RecursionError):
        return None


FORMATS: dict[str, Callable[[Cassette], bytes]] = {
    "compact": lambda cassette: b"".join(compact.encode_cassette(cassette)),
    "vcr": vcr,
    "cassetter": cassetter,
}
"""The formats that can be written; every one that is known can be read."""

_ENDINGS = {".jsonl": "compact", ".yaml": "vcr", ".yml": "vcr"}
"""The format that a file's name asks for."""


class Converted(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was written: its format, how many interactions, both sizes in bytes, and in `notes`
    what was left out."""

    format: str
    interactions: int
    before_bytes: int
    after_bytes: int
    notes: list[str] = []


def format_for(target: Path, to: str = "") -> str:
    """The format of a target: `to`, else by its name. InputError when neither says one."""
    if to:
        if to not in FORMATS:
            raise InputError(f"no format is named {to!r}; {nearest(to, FORMATS)}", "--to")
        return to
    if target.suffix not in _ENDINGS:
        known = ", ".join(f"{end} ({name})" for end, name in _ENDINGS.items())
        raise InputError(f"the name says no format; known are {known}; or say --to", str(target))
    return _ENDINGS[target.suffix]


def convert(source: Path, target: Path, to: str = "", *, force: bool = False) -> Converted:
    """Write the cassette `source` to `target` in another format, without secrets.

    Raises InputError for a source that is not a cassette, a target that is there already (unless
    `force`), and what the target's format cannot say.
    """
    name = format_for(target, to)
    if target.exists() and not force:
        raise InputError("is there already: --force replaces it", str(target))
    held = load_cassette(source)
    cassette = redacted(held)
    try:
        data = written(cassette, name)
    except InputError as error:
        raise error.within(str(source)) from None
    write_atomically(target, data)
    count = sum(1 for _ in cassette.interactions)
    return Converted(name, count, source.stat().st_size, len(data), notes_of(held.left_out))


def written(cassette: Cassette, format: str) -> bytes:
    """The bytes of a cassette in a format; InputError, with the place, for what it cannot say."""
    try:
        data = FORMATS[format](cassette)
    except UnicodeEncodeError:
        raise InputError(f"{format} cannot say half of a surrogate pair") from None
    except RecursionError:
        raise InputError(f"nested too deeply for {format}") from None
    again = parse_cassette(data)
    if again.metadata != cassette.metadata:
        raise InputError(f"{format} cannot say this without loss", "metadata")
    pairs = zip(cassette.interactions, again.interactions, strict=True)
    for number, (one, other) in enumerate(pairs, start=1):
        if one != other:
            lost = next(
                name for name in one.__struct_fields__ if getattr(one, name) != getattr(other, name)
            )
            raise InputError(f"{format} cannot say its {lost}", f"interaction {number}")
    return data
