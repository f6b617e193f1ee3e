"""What a look at the history said of drawn red runs: true, false or debatable.

Thirty red runs of a target are drawn. The first cause of each is compared with what happened, not
with the words of the finding. The rows stand in `docs/field/judged`, a file for each target. The
share of false ones on the page is counted, not written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from harness.core.values.table_file import parse
from tests.field.environments import ROOT

JUDGED = ROOT / "docs" / "field" / "judged"


class Judged(msgspec.Struct, frozen=True):
    """A red run: its first code, the verdict of a person, and what in the history shows it.

    `since` is "repaired" where the check no longer says it, "" where the page's run still does.
    """

    run: str
    code: str
    verdict: Literal["true", "false", "debatable"]
    why: str
    since: Literal["", "repaired"] = ""


def read() -> dict[str, tuple[Judged, ...]]:
    """The rows of each target that has some, by its name.

    Raises InputError, with file and line, for an invalid row.
    """
    return {
        path.stem: tuple(parse(path.read_text("utf-8"), Judged, path.name).values())
        for path in sorted(JUDGED.glob("*.tsv"))
    }


def told_of(target: str, judged: Mapping[str, tuple[Judged, ...]]) -> str:
    """The cell of a target: "1/30 (1 repaired, 2 debatable)"; "" where no run was judged."""
    rows = judged.get(target, ())
    false = [row for row in rows if row.verdict == "false"]
    parts = {
        "repaired": sum(row.since == "repaired" for row in false),
        "debatable": sum(row.verdict == "debatable" for row in rows),
    }
    more = ", ".join(f"{count} {word}" for word, count in parts.items() if count)
    return f"{len(false)}/{len(rows)}{f' ({more})' if more else ''}" if rows else ""
