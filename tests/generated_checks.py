"""The generated part of docs/checks.md: the texts of the checks, their rules and declarations."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.checks.evidence.declarations import declared
from harness.checks.judge import checks, rules_of
from harness.checks.judge.check_rules import by_class
from harness.core.transition.ports import CheckFunction
from harness.parts.part import docstring_of
from tests.generated_pages import DOCS, ROOT, write_page

WIDTH = 100


def generated_checks() -> str:
    """The generated part of `docs/checks.md`."""
    by_name = sorted(checks().items())
    return "\n".join(_section(*item) for item in by_name)


def _section(name: str, check: CheckFunction) -> str:
    head, _, rest = docstring_of(check).partition("\n")
    settings = ", ".join(f"`{s}`" for s in check_settings(check))
    paragraphs = [f"## {name}", _filled(head), *map(_filled, rest.split("\n\n"))]
    unsaid = [f"`{code}`" for code in codes_of(name) if f"`{_rule(code)}`" not in rest + head]
    if unsaid:
        paragraphs.append(_filled(f"Codes: {', '.join(unsaid)}."))
    paragraphs += map(_filled, _classes(name, "Source:" in rest))
    said = f"Settings: {settings}. " if settings else ""
    paragraphs.append(_filled(said + _shortly(declared(check))))
    return "\n\n".join(filter(None, paragraphs)) + "\n"


_SHORT = {
    "Needs these seams: ": "Needs: ",
    "Asked of runs, not of recordings.": "Runs only.",
    "Asked of runs, and of recordings that": "Of recordings, those that",
}
"""Sentences that stand at nearly every check; the head of the page says what they mean."""


def _shortly(declarations: Iterable[str]) -> str:
    """What a check declares, without its excuses, which `harness explain` prints."""
    text = " ".join(said for said in declarations if not said.startswith("Excused ("))
    for long, short in _SHORT.items():
        text = text.replace(long, short)
    return text


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, break_on_hyphens=False)


def _classes(name: str, is_sourced: bool) -> list[str]:
    """The rules of each class; `harness explain` has the reason and the question of each."""
    by_its_class: dict[str, list[str]] = {}
    for row in sorted(rules_of(name), key=by_class):
        named = "every other rule" if _rule(row.code) == "*" else f"`{_rule(row.code)}`"
        by_its_class.setdefault(row.class_, []).append(named)
    sources = dict.fromkeys(row.source for row in rules_of(name))
    said = [f"{class_.capitalize()}: {', '.join(all_)}." for class_, all_ in by_its_class.items()]
    cited = [] if is_sourced or not sources else [f"Source: {'; '.join(sources)}."]
    return [" ".join([*said, *cited])] if said else []


def _rule(code: str) -> str:
    return code.partition(".")[2]


def check_settings(check: CheckFunction) -> list[str]:
    """The settings of a check as they are written in a scenario, with their defaults."""
    own = [p for p in inspect.signature(check).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return [f"{p.name}: {msgspec.json.encode(p.default).decode()}" for p in own]


def codes_of(name: str) -> list[str]:
    """The codes of a check that stand whole in the source."""
    sources = (ROOT / "harness" / "checks").rglob("*.py")
    text = "\n".join(path.read_text("utf-8") for path in sources)
    return sorted(set(re.findall(rf'"({name}\.[a-z_]+)"', text)))


def main(docs: Path = DOCS) -> None:
    """Write the page."""
    write_page(docs / "checks.md", generated_checks())


if __name__ == "__main__":
    main()
