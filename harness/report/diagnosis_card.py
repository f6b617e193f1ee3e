"""A diagnosis as a picture: one SVG, in light and dark, that a page or a chat shows.

It holds no script and no address, and its text is escaped, so that an agent's words stay words.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from html import escape

from harness.report.diagnosis_text import ROLES, contradiction, likely_words, shown
from harness.verdicts.diagnosis import Diagnosis, Link
from harness.verdicts.event_lines import at

WIDTH, MARGIN, LINE = 860, 24, 20
"""The width of the card, its margin, and the height of a line, in pixels."""

COLUMNS = 92
"""The characters of a line in the card's font, at 8.4 pixels each."""

_STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de } text { fill: #1f2328 }
  .code { fill: #b42318; font-weight: bold } .faint { fill: #59636e } .proof { font-weight: bold }
  .fact { fill: #8c959f } .dot { fill: #b42318 }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc }
    .code { fill: #ff8f85 } .faint { fill: #9198a1 } .dot { fill: #ff8f85 }
  }
"""


def diagnosis_card(said: Diagnosis) -> str:
    """The SVG of a diagnosis, with a line end."""
    parts: list[str] = []
    y = MARGIN + LINE
    for style, indent, text in _lines(said):
        if style in ("fact", "dot"):  # it stands before the next line, and takes none
            parts.append(f'<circle class="{style}" cx="{MARGIN + 6}" cy="{y - 5}" r="5"/>')
            continue
        parts.append(_text(style, MARGIN + indent, y, text))
        y += LINE
    height = y + MARGIN - LINE
    title = escape(shown(f"{said.finding.code} in {said.run}"))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="{title}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="card" x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="8"/>',
        *parts,
        "</svg>",
        "",
    ])  # fmt: skip


def _lines(said: Diagnosis) -> Iterator[tuple[str, int, str]]:
    """The lines of the card: class, indent in pixels, text. A dot stands before the next line."""
    yield "code", 0, said.finding.code
    yield from (("", 0, line) for line in _wrapped(said.finding.message))
    yield from (("faint", 0, line) for line in _wrapped(f"{said.run}; {said.target}"))
    yield "", 0, ""
    yield from (("", 0, line) for line in _wrapped(likely_words(said)))
    for link in said.links:
        yield "", 0, ""
        yield ("dot" if link.role in ("decision", "proof") else "fact"), 0, ""
        yield from _link(link)
    yield "", 0, ""
    yield from (("proof", 0, line) for line in _wrapped(f"both cannot be: {contradiction(said)}"))


def _link(link: Link) -> Iterator[tuple[str, int, str]]:
    yield "faint", 24, f"#{link.n}  {at(link.at_ms)}  {ROLES[link.role]}"
    style = "proof" if link.role == "proof" else ""
    yield from ((style, 24, line) for line in _wrapped(link.line, COLUMNS - 3))


def _wrapped(text: str, columns: int = COLUMNS) -> list[str]:
    return textwrap.wrap(shown(text), columns)


def _text(style: str, x: int, y: int, text: str) -> str:
    return f'<text class="{style}" x="{x}" y="{y}" xml:space="preserve">{escape(text)}</text>'
