"""The table of secrets and look-alikes (`secret_texts.tsv`), in each form that a body has."""

from __future__ import annotations

import base64
import json
import re
import string
import uuid
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from harness.core.values.table_file import parse
from harness.redaction.masking import MASK, mask, mask_body, mask_value
from harness.redaction.secret_scan import suspects

_ALNUM = string.ascii_letters + string.digits
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "alnum": _ALNUM,
    "url": _ALNUM + "-_",
    "base": _ALNUM + "+/",
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase + string.digits,
    "digits": string.digits,
    "zeros": "A",
}
_DRAWN = re.compile(r"<(hex|HEX|alnum|url|base|lower|upper|digits|zeros|uuid|basic)(\d*)>")
_EXAMPLES = 12


class SecretText(msgspec.Struct, frozen=True):
    """A row: a text, and the secret that stands in it, if one does."""

    name: str
    text: str
    value: str = ""


_ROWS = parse(
    Path(__file__).with_name("secret_texts.tsv").read_text("utf-8"), SecretText, "secret_texts.tsv"
)
SECRETS = [row for row in _ROWS.values() if row.value]
LOOK_ALIKES = [row for row in _ROWS.values() if not row.value]


def drawn(template: str, random: Random) -> str:
    """The template with each `<kind>` drawn; a run of letters and digits has both."""

    def one(match: re.Match[str]) -> str:
        kind, count = match[1], int(match[2] or 0)
        if kind == "uuid":
            return str(uuid.UUID(int=random.getrandbits(128), version=4))
        if kind == "basic":
            return base64.b64encode(f"me:{one_of('alnum', 14)}".encode()).decode()
        return one_of(kind, count)

    def one_of(kind: str, count: int) -> str:
        while True:
            text = "".join(random.choices(_ALPHABETS[kind], k=count))
            mixed = sum(map(str.isdigit, text)) >= 2 and any(map(str.isalpha, text))
            if count < 20 or kind in ("lower", "digits", "zeros") or mixed:
                return text

    return _DRAWN.sub(one, template).replace("\\n", "\n")


def examples(row: SecretText) -> Iterator[tuple[str, str]]:
    """Texts of a row, each with the secret that it holds."""
    for number in range(_EXAMPLES):
        random = Random(f"{row.name} {number}")
        value = drawn(row.value, random)
        yield drawn(row.text, random).replace("VALUE", value), value


def in_bodies(text: str) -> Iterator[bytes]:
    """The text as bodies hold it: bare, in JSON, in JSON in JSON, and in pieces of a stream."""
    yield text.encode()
    yield json.dumps({"messages": [{"content": text}]}).encode()
    yield json.dumps({"arguments": json.dumps({"text": text})}).encode()
    pieces = [text[n : n + 5] for n in range(0, len(text), 5)]
    yield "".join(
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n"
        for piece in pieces
    ).encode()


def said_in(body: bytes) -> str:
    """What a body says, pieces joined and escapes undone, for a search."""
    text = body.decode()
    if text.startswith("data:") and "delta" in text:
        lines = [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:")]
        return "".join(line["choices"][0]["delta"]["content"] for line in lines)
    return text + re.sub(r"\\(.)", r"\1", text)


def test_the_table_has_sixty_of_each() -> None:
    assert len(SECRETS) >= 60
    assert len(LOOK_ALIKES) >= 60


@pytest.mark.parametrize("row", SECRETS, ids=lambda row: row.name)
def test_a_secret_goes_in_every_form(row: SecretText) -> None:
    for text, secret in examples(row):
        assert secret not in mask(text)
        assert MASK in mask(text)
        for body in in_bodies(text):
            masked = mask_body(body)
            assert secret not in said_in(masked), body
            assert list(suspects([(1, "body", masked.decode())])) == []


@pytest.mark.parametrize("row", LOOK_ALIKES, ids=lambda row: row.name)
def test_a_look_alike_stays_and_stops_nothing(row: SecretText) -> None:
    for text, _ in examples(row):
        assert mask(text) == text
        for body in in_bodies(text):
            assert mask_body(body) == body
            assert list(suspects([(1, "body", body.decode())])) == []


@pytest.mark.parametrize("name", ["VENDOR_KEY", "vendorToken", "x-api-key", "secret", "password"])
def test_a_name_tells_in_values_of_json_too(name: str) -> None:
    value = drawn("<alnum32>", Random(name))
    assert mask_value({name: value}) == {name: MASK}
    assert mask_value([{"name": name, "value": value}]) == [{"name": name, "value": MASK}]
    assert mask_value({name: {"type": "string"}}) == {name: {"type": "string"}}
