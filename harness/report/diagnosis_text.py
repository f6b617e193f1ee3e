"""A diagnosis for people: as text, and as a diagram in Mermaid for a pull request.

GitHub reads the diagram. It takes `#`, `;` and quotes in a label for signs of the language, so they
are written as entities.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.core.values.visible_text import visible_line
from harness.redaction.masking import mask
from harness.report.run_report import Paint, cut, plain, wrapped
from harness.verdicts.diagnosis import Diagnosis, Link, Role
from harness.verdicts.event_lines import at, counted

ROLES: dict[Role, str] = {
    "decision": "decided here",
    "fact": "the one fact",
    "step": "then",
    "proof": "the other fact",
}
"""The roles of a chain as people read them."""


def diagnosis_text(said: Diagnosis, width: int, paint: Paint = plain) -> Iterator[str]:
    """Yield the lines of a diagnosis."""
    yield f"{paint('fail', said.finding.code)} in {paint('strong', said.run)}"
    yield from wrapped(said.finding.message, width, "  ")
    yield ""
    yield from wrapped(likely_words(said), width, "")
    column = max(len(ROLES[link.role]) for link in said.links)
    for link in said.links:
        row = f"  {ROLES[link.role]:{column}}  #{link.n:<5}{at(link.at_ms):>10}  {link.line}"
        yield paint("strong" if link.role == "proof" else "faint", cut(row, width))
    yield from wrapped(f"both cannot be: {contradiction(said)}", width, "")
    yield paint("faint", f"{counted(said.played, 'play')} of drawn futures")


def likely_words(said: Diagnosis) -> str:
    """When the finding became likely, in one sentence."""
    if said.after and said.before and said.decision:
        return (
            f"likely since #{said.decision.n}: of the futures drawn after it {said.after} show the "
            f"finding, of those drawn before it {said.before}"
        )
    if said.start.is_likely:
        return f"likely from the start: {said.start} futures show it, with any later replies"
    return (
        f"likely only by the whole course: of the futures drawn before the proof {said.end} show "
        "the finding"
    )


def contradiction(said: Diagnosis) -> str:
    """Why the facts cannot both hold: the reason of the rule, else the finding's own words."""
    return said.reason or said.finding.message


def diagnosis_row(said: Diagnosis) -> dict[str, Any]:
    """A diagnosis for a machine."""
    found = said.finding
    keys = {"code": found.code, "class": found.class_, "message": found.message}
    return {**msgspec.to_builtins(said), "finding": {**keys, "events": found.events}}


def mermaid(said: Diagnosis) -> str:
    """A diagnosis as a flow chart in Mermaid, with a line end."""
    lines = ["flowchart TD"]
    for link in said.links:
        label = "<br/>".join(map(entities, [f"#{link.n} {ROLES[link.role]}", *_rows(link)]))
        lines.append(f'  e{link.n}["{label}"]')
    arrows = zip(said.links, said.links[1:], strict=False)
    lines += [f"  e{one.n} --> e{other.n}" for one, other in arrows]
    why = [said.finding.code, *textwrap.wrap(shown(contradiction(said)), 60)]
    lines.append(f'  why{{{{"{"<br/>".join(map(entities, why))}"}}}}')
    lines.append(f"  e{said.proof.n} --> why")
    lines += [f"  e{link.n} -.-> why" for link in said.links if link.role == "fact"][:1]
    return "\n".join(lines) + "\n"


def shown(text: str) -> str:
    """A text on one line, without secrets and signs that a terminal obeys."""
    return visible_line(mask(text))


def _rows(link: Link) -> list[str]:
    return textwrap.wrap(shown(link.line), 60)


_ENTITIES = str.maketrans({c: f"#{ord(c)};" for c in "#;\"'`<>&|[]{}()\\"} | {"\n": " "})


def entities(text: str) -> str:
    """Return a text as a label of Mermaid."""
    return text.translate(_ENTITIES)
