"""The last scan of a recording before it is written: a likely secret stops the write.

The scan undoes escapes, decodes percent signs and joins the pieces of a stream, so it finds what
redaction leaves there. It also finds the values of keys in this process's environment. A finding
shows its place and a digest; the digest allows a false alarm.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from urllib.parse import unquote

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.shared.json_fields import parse
from harness.redaction.secret_patterns import base64_texts, spans

SHOWN = 5
"""How many suspects an error names."""

KNOWN_MIN_CHARS = 8
"""What is shorter is not a key, and would be found anywhere."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)"
)
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|(.))", re.S)
_WHITE = {"n": "\n", "r": "\r", "t": "\t"}


class Suspect(msgspec.Struct, frozen=True, order=True):
    """What looks like a secret: in which exchange and part of it, what kind, and its digest."""

    exchange: int
    part: str
    kind: str
    digest: str

    def __str__(self) -> str:
        """The place and the way to allow it."""
        return f"exchange {self.exchange}, {self.part}: {self.kind} (digest {self.digest})"


def secrets_of(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of an environment whose names say that they are secrets, paths excepted."""
    named = (value for name, value in environment.items() if _SECRET_NAME.search(name))
    return frozenset(v for v in named if len(v) >= KNOWN_MIN_CHARS and not v.startswith("/"))


def suspects(
    parts: Iterable[tuple[int, str, str]], known: Collection[str] = ()
) -> Iterator[Suspect]:
    """What looks like a secret in the parts of a recording: exchange, name and text of each.

    `known` are values that must stand nowhere, as the keys that were used.
    """
    keys = [key for key in known if len(key) >= KNOWN_MIN_CHARS]
    for number, part, text in parts:
        found = dict(item for view in _views(text) for item in _found(view, keys))
        for value, kind in found.items():
            yield Suspect(number, part, kind, digest(value))


def refuse(found: Iterable[Suspect], allowed: Collection[str], path: str) -> None:
    """Raise InputError for the suspects that are not allowed by their digest."""
    left = sorted({s for s in found if s.digest not in allowed})
    if not left:
        return
    listed = "".join(f"\n  {suspect}" for suspect in left[:SHOWN])
    more = f"\n  and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
    raise InputError(
        f"not written, for this looks like secrets:{listed}{more}\n"
        "keep them out of what the agent sends, or allow a text that is not a secret: "
        "--allow DIGEST",
        path,
    )


def digest(value: str) -> str:
    """The name of a value that does not tell it."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _found(text: str, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        if key in text or any(key in said for said in base64_texts(text)):
            yield key, "a key of this process's environment"
    for start, end, kind in spans(text):
        yield text[start:end], kind


def _views(text: str) -> Iterator[str]:
    """Each decoded form of the text, once."""
    yield text
    yield from _unescaped(text)
    if "%" in text:
        yield unquote(text)
    if "data:" in text:
        yield from _streamed(text)


def _streamed(text: str) -> Iterator[str]:
    """The texts that a stream's events form together, one for each place in them."""
    pieces: dict[tuple[object, ...], list[str]] = {}
    for line in text.splitlines():
        if line.startswith("data:"):
            for place, piece in _pieces(parse(line[5:]), ()):
                pieces.setdefault(place, []).append(piece)
    for joined in map("".join, pieces.values()):
        yield joined
        yield from _unescaped(joined)


def _unescaped(text: str) -> Iterator[str]:
    if "\\" in text:
        yield _ESCAPE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _WHITE.get(match[2], match[2])


def _pieces(value: Json, place: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _pieces(item, (*place, n))
    elif isinstance(value, dict):
        index = tuple(value.get(name) for name in ("index", "output_index"))
        for name, item in value.items():
            yield from _pieces(item, (*place, *index, name))
