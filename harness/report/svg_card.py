"""A card of text and marks as one SVG, in light and dark, that a page or a chat shows.

It holds no script and no address, and its text is escaped, so that an agent's words stay words. A
diagnosis and a run are drawn with it: each says its lines, and may draw between them.

A diagnosis as a picture: the finding, when it became likely, and the events of its proof.

The picture is the card that a run is drawn on too. What differs is which lines stand on it: here
each event of the chain, with a mark for the two that decide.
"""

from __future__ import annotations

import textwrap
from html import escape

from harness.report.diagnosis_text import ROLES, contradiction, likely_words, shown
from harness.verdicts.diagnosis import Diagnosis, Link
from harness.verdicts.event_lines import at

MARGIN, LINE = 24, 20
"""The margin of a card and the height of a line, in pixels."""

CHARACTER = 8.4
"""The width of a character of the card's font, in pixels."""

_STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de } text { fill: #1f2328 }
  .code { fill: #b42318; font-weight: bold } .faint { fill: #59636e } .proof { font-weight: bold }
  .fact { fill: #8c959f } .dot { fill: #b42318 } .bent { fill: #b7791f }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc }
    .code { fill: #ff8f85 } .faint { fill: #9198a1 } .dot { fill: #ff8f85 }
  }
"""


class SvgCard:
    """A card that grows downwards. `columns` are the characters of a line at the left margin."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.columns = int((width - 2 * MARGIN) / CHARACTER) - 4
        self._parts: list[str] = []
        self._y = MARGIN + LINE

    def text(self, text: str, style: str = "", indent: int = 0, lines: int = 0) -> None:
        """Write a text, wrapped; of more than `lines` lines the last one tells that it goes on."""
        rows = textwrap.wrap(shown(text), self.columns - -(-indent // 8))
        if lines and len(rows) > lines:
            rows[lines - 1 :] = [f"{rows[lines - 1][: self.columns - 5]}…"]
        for row in rows:
            self._parts.append(
                f'<text class="{style}" x="{MARGIN + indent}" y="{self._y}" '
                f'xml:space="preserve">{escape(row)}</text>'
            )
            self._y += LINE

    def space(self) -> None:
        """Leave a line free."""
        self._y += LINE

    def dot(self, style: str) -> None:
        """Draw a mark before the next line."""
        mark = f'<circle class="{style}" cx="{MARGIN + 6}" cy="{self._y - 5}" r="5"/>'
        self._parts.append(mark)

    def bar(self, style: str, x: float, width: float, label: str) -> None:
        """Draw a part of the next line; a pointer on it shows the label."""
        self._parts.append(
            f'<rect class="{style}" x="{x:.1f}" y="{self._y - 12}" width="{width:.1f}" '
            f'height="14"><title>{escape(shown(label))}</title></rect>'
        )

    def svg(self, title: str) -> str:
        """Return the card, with a line end."""
        height = self._y + MARGIN - LINE
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" '
            f'width="{self.width}" height="{height}" role="img" '
            f'aria-label="{escape(shown(title))}">',
            f"<style>{_STYLE}</style>",
            f'<rect class="card" x="1" y="1" width="{self.width - 2}" height="{height - 2}" '
            'rx="8"/>',
            *self._parts,
            "</svg>",
            "",
        ])  # fmt: skip


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
