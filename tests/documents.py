"""What the documents hold, read back: code blocks, command lines, and the generated parts.

The part of a page below its mark is generated. Each `tests/generated_*.py` writes its page, and
this command writes them all:

    python -m tests.documents

A test compares the pages with the code.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests import generated_examples, generated_keys, generated_llms
from tests.generated_api import generated_api
from tests.generated_checks import generated_checks
from tests.generated_coverage import generated_coverage
from tests.generated_faults import generated_faults
from tests.generated_pages import DOCS, write_page
from tests.generated_pages import MARK as MARK
from tests.generated_pages import ROOT as ROOT
from tests.generated_rules import generated_rules


def blocks(document: Path, language: str) -> list[str]:
    """The code blocks of a language, in order."""
    text = document.read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def part(document: Path, heading: str) -> str:
    """The text below a heading up to the next one of its rank or higher."""
    level = heading.partition(" ")[0]
    text = document.read_text("utf-8")
    all_found = re.findall(
        rf"^{re.escape(heading)}\b[^\n]*\n(.*?)(?=^#{{1,{len(level)}}} |\Z)",
        text,
        re.MULTILINE | re.DOTALL,
    )
    assert len(all_found) == 1, (
        f"{document.name} has {len(all_found)} headings {heading!r}, not one"
    )
    return str(all_found[0])


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


GENERATED = {
    "api.md": generated_api,
    "checks.md": generated_checks,
    "coverage.md": generated_coverage,
    "faults.md": generated_faults,
    "rules.md": generated_rules,
}
"""Documents below their mark."""


def main(docs: Path = DOCS) -> None:
    """Write the generated parts."""
    for name, text in GENERATED.items():
        write_page(docs / name, text())
    generated_examples.main()
    generated_keys.main(docs)
    generated_llms.main(docs)


if __name__ == "__main__":
    main()
