"""What the documents hold, read back: code blocks, command lines, and the generated parts.

The part of a page below its mark is generated. `docs/checks.md` comes from the docstrings of the
checks. `docs/faults.md` comes from the docstrings of the faults and the fault table, and
`docs/coverage.md` from the sources of the scenarios. This command writes them:

    python -m tests.documents

A test compares the pages with the code.
"""

from __future__ import annotations

import inspect
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

import msgspec

from harness.checks.evidence.declarations import declared
from harness.checks.judge import checks, rules_of
from harness.checks.judge.check_rules import by_class
from harness.checks.judge.check_texts import class_words
from harness.core.transition.ports import CheckFunction
from harness.parts.part import docstring_of
from tests.generated_api import generated_api
from tests.generated_coverage import generated_coverage
from tests.generated_examples import example_files
from tests.generated_faults import generated_faults
from tests.generated_keys import PAGES as KEY_PAGES
from tests.generated_keys import with_key_tables
from tests.generated_rules import generated_rules

ROOT = Path(__file__).parents[1]
MARK = "<!-- From here on: python -m tests.documents -->\n"
WIDTH = 100


def blocks(document: Path, language: str) -> list[str]:
    """The code blocks of a language, in order."""
    text = document.read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def part(document: Path, heading: str) -> str:
    """The text below a heading up to the next one of its rank or higher."""
    level = heading.partition(" ")[0]
    text = document.read_text("utf-8")
    (found,) = re.findall(
        rf"^{re.escape(heading)}\b[^\n]*\n(.*?)(?=^#{{1,{len(level)}}} |\Z)",
        text,
        re.MULTILINE | re.DOTALL,
    )
    return str(found)


def headings(document: Path) -> set[str]:
    """The headings as the fragments that link to them."""
    text = re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def command_lines(text: str) -> Iterator[list[str]]:
    """The words of each `harness VERB …` in code: lines of blocks for a shell, and spans."""
    all_fenced = re.findall(r"^```([a-z]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    fenced = [block for language, block in all_fenced if language in ("", "sh")]
    spans = re.findall(r"`(harness [^`\n]+)`", text)
    for line in ["\n".join(fenced), *spans]:
        for found in re.findall(r"^[ $]*(harness [a-z].*)$", line, re.MULTILINE):
            yield shlex.split(found, comments=True)[1:]


def generated_checks() -> str:
    """The generated part of `docs/checks.md`."""
    by_name = sorted(checks().items())
    return "\n".join([*(_section(*item) for item in by_name)])


def _section(name: str, check: CheckFunction) -> str:
    head, _, rest = docstring_of(check).partition("\n")
    settings = ", ".join(f"`{s}`" for s in check_settings(check)) or "none"
    paragraphs = [f"## {name}", _filled(head), *map(_filled, rest.split("\n\n"))]
    unsaid = [f"`{code}`" for code in codes_of(name) if f"`{_rule(code)}`" not in rest + head]
    if unsaid:
        paragraphs.append(_filled(f"Codes: {', '.join(unsaid)}."))
    rows = sorted(rules_of(name), key=by_class)
    paragraphs.append("\n".join(_item(class_words(row)) for row in rows))
    paragraphs.append(_filled(f"Settings: {settings}. {' '.join(declared(check))}"))
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, break_on_hyphens=False)


def _item(text: str) -> str:
    return textwrap.indent(_filled(f"- {text}"), "  ").strip()


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


GENERATED = {
    "api.md": generated_api,
    "checks.md": generated_checks,
    "coverage.md": generated_coverage,
    "faults.md": generated_faults,
    "rules.md": generated_rules,
}
"""Documents below their mark."""


def main() -> None:
    """Write the generated parts."""
    for name, text in GENERATED.items():
        path = ROOT / "docs" / name
        kept = path.read_text("utf-8").partition(MARK)[0]
        path.write_text(kept + MARK + "\n" + text(), "utf-8")
    for path, text_of_examples in example_files():
        path.write_text(text_of_examples, "utf-8")
    for page in KEY_PAGES:
        path = ROOT / "docs" / page
        path.write_text(with_key_tables(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
