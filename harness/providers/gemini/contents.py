"""One content of a request, read with what it breaks by itself.

The JSON reader of the API knows every field, and refuses others by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Literal

from harness.core.values.messages import Json
from harness.core.values.table_file import pairs
from harness.providers.gemini.blocks import SIGNATURE, get, parts_in, snake
from harness.providers.gemini.record import Broken
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import encode
from harness.providers.shared.reader import Malformed
from harness.providers.shared.signatures import Signer, decoded
from harness.providers.shared.unoffered import is_out_of_reach

FIELDS = {name: tuple(held.split()) for name, held in pairs(__package__, "fields.tsv").items()}
"""The fields by the object: a request, a part, what may stand beside, a call, a schema."""

_DATA = FIELDS["part"]

_ROLES = frozenset({"user", "model"})
_STRUCT = "type.googleapis.com/google.protobuf.Struct"


@cache
def known(*names: str) -> frozenset[str]:
    """Names of fields in both spellings."""
    return frozenset(names) | frozenset(map(snake, names))


def unknown(value: dict[str, Json], names: tuple[str, ...], path: str) -> Iterator[Broken]:
    """The fields of an object that the API does not know."""
    for name in value:
        if name not in known(*names):
            yield Broken("G13", {"name": name, "path": path})


def broken(content: Json) -> Iterator[Broken]:
    """What a content breaks by itself; raises Malformed for what is not content."""
    if not isinstance(content, dict):
        raise Malformed("", content, "type.googleapis.com/google.ai.generativelanguage.Content")
    parts = parts_in(content)
    if parts is not None and not isinstance(parts, list):
        raise Malformed(".parts", parts, "type.googleapis.com/google.ai.generativelanguage.Part")
    yield from unknown(content, ("role", "parts"), "contents[{n}]")
    yield from _role(content.get("role"))
    if not parts:
        yield Broken("G5")
        return
    for m, part in enumerate(parts):
        if not isinstance(part, dict):
            wanted = "type.googleapis.com/google.ai.generativelanguage.Part"
            raise Malformed(f".parts[{m}]", part, wanted)
        yield from _part(m, part)


def _role(role: Json) -> Iterator[Broken]:
    if role is None or role == "":
        yield Broken("G7a")
    elif role == "function":
        yield Broken("G8")
    elif role not in _ROLES:
        yield Broken("G7")


def _part(m: int, part: dict[str, Json]) -> Iterator[Broken]:
    path = f"contents[{{n}}].parts[{m}]"
    yield from unknown(part, (*_DATA, *FIELDS["beside_part"]), path)
    if not any(get(part, name) is not None for name in (*_DATA, SIGNATURE)):
        yield Broken("G6", {"m": m})
    text = part.get("text")
    if text is not None and not isinstance(text, str):
        yield _wrong(f"{path}.text", "TYPE_STRING", text)
    elif text == "":
        yield Broken("G32")
    if isinstance(signature := get(part, SIGNATURE), str) and signature:
        yield from _signature(f"{path}.thought_signature", signature)
    if is_out_of_reach(f.text(get(f.mapping(get(part, "fileData")), "fileUri"))):
        yield Broken("G34")
    if (call := get(part, "functionCall")) is not None:
        yield from _named(m, "function_call", call, "args")
    if (response := get(part, "functionResponse")) is not None:
        yield from _named(m, "function_response", response, "response")


def _signature(path: str, signature: str) -> Iterator[Broken]:
    flaw = signature_flaw(signature)
    if flaw == "no base64":
        yield Broken("G12", {"path": path, "value": signature})
    elif flaw:
        yield Broken("G11")


SIGNER = Signer(b"lhg\x01", b"loop-harness: thought signatures")
"""Signs the first call of an answer: a model wants the signature back."""

DUMMIES = frozenset({"context_engineering_is_the_way_to_go", "skip_thought_signature_validator"})
"""Texts that count as a signature, in a history that another model made:
ai.google.dev/gemini-api/docs/thought-signatures."""


def signature_flaw(signature: str) -> Literal["", "no base64", "corrupted"]:
    """What is wrong with a signature, "" for nothing.

    A foreign one is not judged: it may come from a seed, a cassette or a real answer.
    """
    if signature in DUMMIES:
        return ""
    # The API takes both alphabets of base64, with padding or without.
    usual = signature.replace("-", "+").replace("_", "/").rstrip("=")
    usual += "=" * (-len(usual) % 4)
    raw = decoded(usual)
    if raw is None:
        return "no base64"
    if not raw.startswith(SIGNER.mark):
        return ""
    parts = SIGNER.parts_of(usual)
    return "" if parts is not None and len(parts) == 1 else "corrupted"


def _named(m: int, kind: str, value: Json, struct: str) -> Iterator[Broken]:
    path = f"contents[{{n}}].parts[{m}].{kind}"
    if not isinstance(value, dict):
        yield _wrong(path, _STRUCT, value)
        return
    yield from unknown(value, FIELDS[kind], path)
    if not value.get("name"):
        yield Broken("G18", {"m": m, "kind": kind})
    given = value.get(struct)
    if isinstance(given, list):
        yield Broken("G14", {"name": struct, "path": path})
    elif given is not None and not isinstance(given, dict):
        yield _wrong(f"{path}.{struct}", _STRUCT, given)


def _wrong(path: str, wanted: str, value: Json) -> Broken:
    return Broken("G15", {"path": path, "wanted": wanted, "value": encode(value).decode()})
