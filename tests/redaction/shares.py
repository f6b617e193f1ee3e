"""What redaction misses and what it takes, measured: the share of keys that stay, by form, and the
share of innocent texts that are changed. `python -m tests.redaction.shares [KEYS] [SEED]`.

Keys are drawn as issuers without a prefix draw them: 16 to 40 characters of one alphabet.
"""

from __future__ import annotations

import base64
import json
import re
import string
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import msgspec

from harness.core.values.table_file import parse
from harness.redaction.masking import mask_body
from tests.redaction.test_secret_texts import drawn

KEYS, SEED = 10_000, 1
ALPHABETS = {
    "base62": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "small letters": string.ascii_lowercase,
    "small letters and digits": string.ascii_lowercase + string.digits,
    "base64url": string.ascii_letters + string.digits + "-_",
    "hexadecimal": "0123456789abcdef",
}
LENGTHS = (16, 18, 20, 24, 32, 40)
_HERE = Path(__file__).parent
_WORDS = re.compile(r"\b[a-z]{3,12}\b")
_DRAWN_WORDS = re.compile(r"<(word|words|Word|WORD)>")


class KeyForm(msgspec.Struct, frozen=True, rename={"written_as": "as"}):
    """A text in which a key stands, and how the text is written further."""

    form: str
    written_as: str = ""
    text: str = ""


class InnocentText(msgspec.Struct, frozen=True):
    """A text that holds no secret."""

    kind: str
    text: str


def _table(name: str, row: type[msgspec.Struct]) -> list[msgspec.Struct]:
    return [*parse((_HERE / name).read_text("utf-8"), row, name).values()]


FORMS = [row for row in _table("key_forms.tsv", KeyForm) if isinstance(row, KeyForm)]
INNOCENT = [
    row for row in _table("innocent_texts.tsv", InnocentText) if isinstance(row, InnocentText)
]


def keys(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """The alphabet and the text of each drawn key."""
    random = Random(seed)
    for number in range(count):
        alphabet = [*ALPHABETS][number % len(ALPHABETS)]
        length = LENGTHS[number // len(ALPHABETS) % len(LENGTHS)]
        yield alphabet, "".join(random.choices(ALPHABETS[alphabet], k=length))


def body_of(form: KeyForm, key: str) -> bytes:
    """The body in which a key stands in a form."""
    written = (
        form.text.replace("\\r", "\r").replace("\\n", "\n") if not form.written_as else form.text
    )
    text = written.replace("VALUE", key)
    if form.written_as == "twice":
        return json.dumps({"a": json.dumps({"text": text})}).encode()
    if form.written_as == "stream":
        pieces = [text[n : n + 4] for n in range(0, len(text), 4)]
        chunks = ({"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces)
        return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()
    if form.written_as == "base64":
        return base64.b64encode(text.encode())
    if form.written_as == "wrapped":
        filled = "so it is said here; " * 3 + text
        return "\n".join(textwrap.wrap(filled, 76, break_on_hyphens=False)).encode()
    return text.encode()


def stays(form: KeyForm, key: str) -> bool:
    """Whether a key is still to be read in the masked body."""
    masked = mask_body(body_of(form, key)).decode()
    if form.written_as == "stream":
        lines = (json.loads(line[5:]) for line in masked.splitlines() if line[:5] == "data:")
        masked = "".join(line["choices"][0]["delta"]["content"] for line in lines)
    if form.written_as == "base64":
        masked = base64.b64decode(masked).decode() if masked.isascii() and "[" not in masked else ""
    return key in masked.replace("\n", "")


@cache
def _vocabulary() -> list[str]:
    pages = (_HERE.parents[1] / "docs").glob("*.md")
    return sorted(
        {word for page in sorted(pages) for word in _WORDS.findall(page.read_text("utf-8"))}
    )


def innocent(row: InnocentText, number: int) -> str:
    """The text of a row with its words and numbers drawn."""
    random = Random(f"{row.kind} {number}")

    def one(match: re.Match[str]) -> str:
        count = 5 if match[1] == "words" else 1
        said = " ".join(random.choice(_vocabulary()) for _ in range(count))
        return {"Word": said.capitalize(), "WORD": said.upper()}.get(match[1], said)

    return drawn(_DRAWN_WORDS.sub(one, row.text), random)


def shares_that_stay(count: int, seed: int) -> dict[str, float]:
    """By form, and by alphabet, the share of the drawn keys that stay; each key in one form."""
    stayed: dict[str, list[bool]] = {}
    for number, (alphabet, key) in enumerate(keys(count, seed)):
        # Each alphabet and each length meet each form.
        form = FORMS[number // (len(ALPHABETS) * len(LENGTHS)) % len(FORMS)]
        result = stays(form, key)
        stayed.setdefault(form.form, []).append(result)
        stayed.setdefault(f"= {alphabet}", []).append(result)
        stayed.setdefault(f"= {len(key)} characters", []).append(result)
        stayed.setdefault("= all", []).append(result)
    return {name: sum(results) / len(results) for name, results in stayed.items()}


def shares_taken(count: int) -> dict[str, float]:
    """By kind, the share of innocent texts that are changed."""
    return {
        row.kind: sum(
            mask_body(text.encode()) != text.encode()
            for text in (innocent(row, number) for number in range(count))
        )
        / count
        for row in INNOCENT
    }


def main(arguments: list[str]) -> None:
    """Print both tables."""
    count = int(arguments[0]) if arguments else KEYS
    seed = int(arguments[1]) if len(arguments) > 1 else SEED
    print(f"{count} keys in {len(FORMS)} forms: the share that stays")
    for name, share in shares_that_stay(count, seed).items():
        print(f"{share:8.2%}  {name}")
    print(f"\n{len(INNOCENT)} kinds of innocent texts: the share that is taken")
    for name, share in shares_taken(max(1, count // len(INNOCENT))).items():
        print(f"{share:8.2%}  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
