"""A diagnosis as a picture: the finding, when it became likely, and the events of its proof.

The picture is the card that a run is drawn on too. What differs is which lines stand on it: here
each event of the chain, with a mark for the two that decide.
"""

from __future__ import annotations

from harness.report.diagnosis_text import ROLES, contradiction, likely_words
from harness.report.svg_card import SvgCard
from harness.verdicts.diagnosis import Diagnosis, Link
from harness.verdicts.event_lines import at

WIDTH = 860
"""The width of the card: a line of an event stands in it whole."""

_STEP = 24
"""How far the line of an event is indented, in pixels."""


def diagnosis_card(said: Diagnosis) -> str:
    """The SVG of a diagnosis, with a line end."""
    card = SvgCard(WIDTH)
    card.text(said.finding.code, "code")
    card.text(said.finding.message)
    card.text(f"{said.run}; {said.target}", "faint")
    card.space()
    card.text(likely_words(said))
    for link in said.links:
        card.space()
        _draw(card, link)
    card.space()
    card.text(f"both cannot be: {contradiction(said)}", "proof")
    return card.svg(f"{said.finding.code} in {said.run}")


def _draw(card: SvgCard, link: Link) -> None:
    """Draw an event: its mark, its number, time and role, and its line."""
    card.dot("dot" if link.role in ("decision", "proof") else "fact")
    card.text(f"#{link.n}  {at(link.at_ms)}  {ROLES[link.role]}", "faint", _STEP)
    card.text(link.line, "proof" if link.role == "proof" else "", _STEP)
