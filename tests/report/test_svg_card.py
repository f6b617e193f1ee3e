"""The card that pictures are drawn on: wrapped texts, a bound of lines, marks and bars."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from harness.report.svg_card import CHARACTER, LINE, MARGIN, SvgCard

_SVG = "{http://www.w3.org/2000/svg}"


def _texts(card: SvgCard) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(card.svg("a title")).iter(f"{_SVG}text"))


@pytest.mark.parametrize("width", [300, 480, 860])
@pytest.mark.parametrize("indent", [0, 24, 100])
def test_a_line_ends_within_the_card(width: int, indent: int) -> None:
    card = SvgCard(width)
    card.text("word " * 60 + "x" * 300, indent=indent)
    for row in _texts(card):
        end = float(row.get("x", "0")) + CHARACTER * len(row.text or "")
        assert end <= width - MARGIN / 2


def test_a_bound_of_lines_shows_that_the_text_goes_on() -> None:
    card = SvgCard(480)
    card.text("word " * 100, lines=3)
    card.text("word " * 5, lines=3)
    *first, last = [row.text or "" for row in _texts(card)]
    assert [row.endswith("…") for row in first] == [False, False, True]
    assert last == "word word word word word"


def test_a_mark_and_a_bar_stand_at_the_next_line() -> None:
    card = SvgCard(480)
    card.text("first")
    card.space()
    card.dot("dot")
    card.bar("fact", 100, 5, "what it is")
    card.text("second")
    root = ElementTree.fromstring(card.svg("a <title>"))
    first, second = root.iter(f"{_SVG}text")
    (mark,) = root.iter(f"{_SVG}circle")
    *_, bar = root.iter(f"{_SVG}rect")
    assert float(second.get("y", "0")) - float(first.get("y", "0")) == 2 * LINE
    for part, name in ((mark, "cy"), (bar, "y")):
        assert 0 < float(second.get("y", "0")) - float(part.get(name, "0")) < LINE
    assert bar[0].text == "what it is"
    assert root.get("aria-label") == "a <title>"
