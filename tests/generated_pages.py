"""Where the generated parts of the documents stand: a page has its own words, then a mark.

Each `tests/generated_*.py` makes one page, and writes it when it is run.
`python -m tests.documents` writes them all.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MARK = "<!-- From here on: python -m tests.documents -->\n"


def write_page(page: Path, generated: str) -> None:
    """Write the generated part of a page below its mark, which the page must have."""
    kept, mark, _ = page.read_text("utf-8").partition(MARK)
    assert mark, f"{page} has no mark: {MARK}"
    page.write_text(f"{kept}{MARK}\n{generated}", "utf-8")
