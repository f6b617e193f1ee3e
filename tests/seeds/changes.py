"""The changes of the audit: for each statement what breaks it in the product.

`audit.tsv` has the columns statement, file, text, replacement. A text stands once in its file; `¶`
stands for a line break. Several rows of one statement are one change.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("audit.tsv")
COLUMNS = ["statement", "file", "text", "replacement"]

_NO_ANNOUNCEMENTS = "no other program compacts for this agent, so there is nothing to announce"

UNCHANGED: dict[int, str] = {83: _NO_ANNOUNCEMENTS, 84: _NO_ANNOUNCEMENTS}
"""The statements that no change of the product can break, each with the reason."""


class Change(NamedTuple):
    """A text of a file, and what is put in its place."""

    statement: int
    file: str
    text: str
    replacement: str

    def place(self, root: Path) -> str:
        """The file's content with the replacement. Raises ValueError where the text is not there
        once."""
        content = (root / self.file).read_text()
        found = content.count(self.text)
        if found != 1:
            where = f"{TABLE.name}, statement {self.statement}"
            raise ValueError(f"{where}: its text stands {found} times in {self.file}: mend the row")
        return content.replace(self.text, self.replacement)


def changes() -> dict[int, list[Change]]:
    """The rows of the table by statement."""
    head, *lines = TABLE.read_text().splitlines()
    assert head.split("\t") == COLUMNS
    found: dict[int, list[Change]] = defaultdict(list)
    for line in lines:
        number, file, *texts = line.split("\t")
        text, replacement = (part.replace("¶", "\n") for part in texts)
        found[int(number)].append(Change(int(number), file, text, replacement))
    return found
