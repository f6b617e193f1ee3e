"""The one encoder: what JSON, UTF-8 and a terminal cannot say, bounded and without secrets."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.history.history import History
from harness.core.values.verdict import CrashPlace, Finding, Verdict
from harness.core.values.visible_text import ESCAPES
from harness.redaction.encoder import (
    REPORTED_MOST_CHARS,
    Encoded,
    beginning,
    encoded,
    event_line,
    json_bytes,
    json_document,
    json_line,
    own_line,
    reported,
    shown,
    text_bytes,
)
from harness.redaction.masking import MASK

KEY = "sk-ant-api03-" + "Zq7Lm2Xc9Vb4Np6Rt8Yw3Ks5Hd1Gf0Ja" * 3


class Silent:
    """An object whose text raises."""

    def __str__(self) -> str:
        raise ValueError("no")


def _cycle() -> list[Any]:
    box: list[Any] = []
    box.append(box)
    return box


def _deep(levels: int) -> Any:
    value: Any = KEY
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    "value",
    ["\ud800", {"\ud800": "\udfff"}, _cycle(), {1: 2, None: 3, (1, 2): "x"}, 10**400, Silent(),
     {Silent(): 1}, b"\xff", {1, 2}, float("nan"), float("inf"), _deep(5_000), _deep(300),
     Finding("\ud800", "half \udfff"), {"a": Finding("x", Silent())}],  # type: ignore[arg-type]
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_every_value_is_a_line_of_json(value: Any) -> None:
    data = json_bytes(value)
    json.loads(data)
    assert KEY.encode() not in data
    assert b"\n" not in data


def test_half_of_a_surrogate_pair_becomes_its_escape() -> None:
    assert encoded("a\ud800é") == rb"a\ud800" + "é".encode()
    assert text_bytes("\udfff") == rb"\udfff"
    assert shown("\ud800") == r"\ud800"
    assert json.loads(json_line({"a": "\ud800"})) == {"a": r"\ud800"}


@given(st.text(st.characters(categories=None)))
def test_any_text_is_written(text: str) -> None:
    assert encoded(text).decode() == shown(Encoded(encoded(text).decode()))
    assert json.loads(json_line([text]))
    assert json.loads(json.dumps(text, ensure_ascii=False).encode("ascii", ESCAPES)) == text


def test_what_an_encoding_lacks_is_an_escape_of_json() -> None:
    said = '{"a":"é😀→"}'
    for encoding in ("ascii", "latin-1", "cp1252"):
        data = said.encode(encoding, ESCAPES)
        assert json.loads(data.decode(encoding)) == {"a": "é😀→"}
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", ESCAPES)


def test_no_secret_is_written_by_any_way() -> None:
    assert text_bytes(f"the key is {KEY}") == f"the key is {MASK}".encode()
    assert KEY.encode() not in json_document({"a": KEY})
    made = History()
    made.ended(how="crashed", text=KEY)
    assert KEY.encode() not in event_line(made.events[0])


def test_what_is_ours_and_what_was_encoded_stay_as_they_are() -> None:
    assert json.loads(own_line({"ANTHROPIC_API_KEY": KEY})) == {"ANTHROPIC_API_KEY": KEY}
    assert shown(Encoded(KEY)) == KEY


def test_a_report_has_no_secret_no_half_pair_and_bounded_texts() -> None:
    long = "word " * 100_000
    found = Finding("a.b", f"{KEY} \ud800", (1,), place=CrashPlace(long, 1, "f", KEY))
    verdict = Verdict("fail", findings=(found,), doubts=(long,))
    made = reported(verdict)
    [one] = made.findings
    assert one.message == rf"{MASK} \ud800"
    assert one.place is not None
    assert one.place.error == MASK
    assert len(made.doubts[0]) < REPORTED_MOST_CHARS + 100
    assert made.doubts[0].endswith("more characters)")
    assert msgspec.json.decode(json_bytes(made), type=Verdict) == made


def test_a_report_without_such_texts_is_the_same_value() -> None:
    verdict = Verdict("fail", findings=(Finding("a.b", "plain", (1,)),))
    assert reported(verdict) is verdict


@pytest.mark.parametrize("before", [0, 1, 30, 40, 47, 55])
def test_a_cut_leaves_no_part_of_a_secret(before: int) -> None:
    said = beginning("p" * before + f" {KEY} and more", 60)
    assert "sk-" not in said
    assert len(said) <= 60 + len(MASK)


def test_a_text_at_its_most_is_whole() -> None:
    assert beginning("a" * 60, 60) == "a" * 60
    assert beginning("a" * 61, 60) == "a" * 60
