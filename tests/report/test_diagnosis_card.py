"""A diagnosis as a picture: well-formed, of the size of its text, and without a script."""

from __future__ import annotations

from xml.etree import ElementTree

import msgspec
from syrupy.assertion import SnapshotAssertion

from harness.core.values.verdict import Finding
from harness.report.svg_card import MARGIN, WIDTH, diagnosis_card
from harness.verdicts.diagnosis import Diagnosis, Link
from tests.report.test_diagnosis_text import HOSTILE, SAID

_SVG = "{http://www.w3.org/2000/svg}"


def _texts(card: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(card).iter(f"{_SVG}text")]


def test_card(snapshot: SnapshotAssertion) -> None:
    assert diagnosis_card(SAID) == snapshot


def test_all_is_said_and_stands_within_the_card() -> None:
    card = diagnosis_card(SAID)
    root = ElementTree.fromstring(card)
    texts = " ".join(_texts(card))
    for words in (SAID.finding.code, SAID.run, SAID.reason, *(f"#{e.n}" for e in SAID.links)):
        assert words in texts
    assert root.get("width") == str(WIDTH)
    lowest = max(float(text.get("y", "0")) for text in root.iter(f"{_SVG}text"))
    assert float(root.get("height", "0")) >= lowest + MARGIN / 2


def test_a_mark_stands_for_each_event() -> None:
    root = ElementTree.fromstring(diagnosis_card(SAID))
    marks = [mark.get("class") for mark in root.iter(f"{_SVG}circle")]
    assert marks == ["dot", "fact", "fact", "dot"]


def test_words_of_an_agent_stay_words() -> None:
    said: Diagnosis = msgspec.structs.replace(
        SAID,
        run=HOSTILE,
        finding=Finding("x.y", HOSTILE * 9, (17,)),
        reason="",
        links=(Link(17, HOSTILE, 0, "proof"),),
    )
    root = ElementTree.fromstring(diagnosis_card(said))
    assert {element.tag.removeprefix(_SVG) for element in root.iter()} == {
        "svg", "style", "rect", "circle", "text",
    }  # fmt: skip
    assert any("onerror" in text for text in _texts(diagnosis_card(said)))
