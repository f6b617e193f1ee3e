"""`docs/llms.txt`: the index for a language model, made of `docs/index.md`.

The form is that of llmstxt.org: a title, a sentence, and sections of links. It says nothing that
the index does not say, so it is a file of its own only because tools look for this name.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.generated_pages import DOCS

NAME = "llms.txt"
PAGES = (NAME,)
_LINK = re.compile(r"\]\(([^):]+\.md)\)")


def generated_llms(docs: Path = DOCS) -> str:
    """The text: the index with its first paragraph as a quotation."""
    title, _, rest = (docs / "index.md").read_text("utf-8").partition("\n\n")
    summary, _, sections = rest.partition("\n\n")
    said = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(summary.split()))
    one_line = re.sub(r"\n +", " ", sections)
    return f"{title}\n\n> {said}\n\n{one_line}"


def linked(text: str) -> list[str]:
    """The pages that the text names, relative to it."""
    return _LINK.findall(text)


def main(docs: Path = DOCS) -> None:
    """Write the file; the index is that of the pages."""
    (docs / NAME).write_text(generated_llms(DOCS), "utf-8")


if __name__ == "__main__":
    main()
