"""The last scan of a recording before it is written: a likely secret stops the write.

The scan undoes escapes, decodes percent signs and joins the pieces of a stream, so it finds what
redaction leaves there. It also finds the values of keys in this process's environment. A finding
shows its place and a digest; the digest allows a false alarm.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from urllib.parse import unquote

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.shared.codec import encode
from harness.providers.shared.json_fields import parse
from harness.redaction.masking import MASK, joined_texts
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


def refuse(found: Iterable[Suspect], allowed: Collection[str], path: str, kept: str = "") -> None:
    """Raise InputError for the suspects that are not allowed by their digest.

    `kept` is the file that holds the rest.
    """
    left = sorted({s for s in found if s.digest not in allowed})
    if not left:
        return
    listed = [str(suspect) for suspect in left[:SHOWN]]
    if len(left) > SHOWN:
        listed.append(f"and {len(left) - SHOWN} more")
    if kept:
        listed.append(f"{kept} has the recording without these texts; rename it to keep it")
    listed.append(
        "keep them out of what the agent sends, or allow a text that is not a secret: "
        "--allow DIGEST"
    )
    raise InputError("not written, for this looks like secrets:", path, listed)


def without_suspects(text: str, known: Collection[str], allowed: Collection[str]) -> str:
    """The text without what looks like a secret in it: without the known values, else without the
    values of JSON that hold a suspect, else without all of it."""
    is_clean = partial(_is_clean, known=known, allowed=allowed)
    for key in known:
        if len(key) >= KNOWN_MIN_CHARS and digest(key) not in allowed:
            text = text.replace(key, MASK)
    if is_clean(text):
        return text
    lines = [_cut_line(line, known, allowed) for line in text.splitlines(keepends=True)]
    return cut if is_clean(cut := "".join(lines)) else encode(MASK).decode()


def _cut_line(line: str, known: Collection[str], allowed: Collection[str]) -> str:
    head = "data: " if line.startswith("data:") else ""
    value = parse(line.removeprefix("data:"))
    if _is_clean(line, known, allowed):
        return line
    if not isinstance(value, (dict, list)):
        return head + MASK + line[len(line.rstrip("\r\n")) :]
    cut = encode(_cut_value(value, known, allowed)).decode()
    return head + cut + line[len(line.rstrip("\r\n")) :]


def _cut_value(value: Json, known: Collection[str], allowed: Collection[str]) -> Json:
    if isinstance(value, str):
        return value if _is_clean(value, known, allowed) else MASK
    if isinstance(value, list):
        return [_cut_value(item, known, allowed) for item in value]
    if isinstance(value, dict):
        return {
            name: _cut_value(item, known, allowed)
            if _is_clean(encode({name: item}).decode(), known, allowed) or not isinstance(item, str)
            else MASK
            for name, item in value.items()
        }
    return value


def _is_clean(text: str, known: Collection[str], allowed: Collection[str]) -> bool:
    return all(suspect.digest in allowed for suspect in suspects([(0, "", text)], known))


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
    events = (parse(line[5:]) for line in text.splitlines() if line.startswith("data:"))
    for places in joined_texts(events).values():
        joined = "".join(holder[name] for holder, name in places)
        yield joined
        yield from _unescaped(joined)


def _unescaped(text: str) -> Iterator[str]:
    if "\\" in text:
        yield _ESCAPE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _WHITE.get(match[2], match[2])
