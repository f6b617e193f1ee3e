"""The generated part of docs/faults.md: every fault, every row of the table, what is not made."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from harness.catalogue import ROWS
from harness.faults import Fault, faults
from tests.generated_pages import DOCS, write_page

WIDTH = 100


NOT_MADE = {code: row.not_made for code, row in ROWS.items() if row.not_made}
"""The rows that no fault makes, with the reason."""


def generated_faults() -> str:
    """The text, layer by layer."""
    found = sorted(faults().values(), key=lambda fault: fault.kind)
    lines = [f"{len(found)} faults make {len(ROWS) - len(NOT_MADE)} of {len(ROWS)} rows.\n"]
    for layer, group in groupby(found, key=lambda fault: fault.kind.partition(".")[0]):
        lines += [f"## {layer}\n", *(line for fault in group for line in _fault(fault))]
    return "\n".join([*lines, *_rows(), *_not_made()])


def _fault(fault: Fault) -> Iterator[str]:
    yield f"### {fault.kind}\n"
    for paragraph in fault.text.split("\n\n"):
        yield _filled(paragraph) + "\n"
    settings = ", ".join(f"`{name}: {value!r}`" for name, value in fault.defaults.items())
    wires = f" Only on {', '.join(fault.wires)}." if fault.wires else ""
    rows = f" Rows: {', '.join(fault.codes)}." if fault.codes else ""
    on = ", ".join(fault.seams)
    yield (
        _filled(f"Bends the {fault.stage} on: {on}.{wires} Settings: {settings or 'none'}.{rows}")
        + "\n"
    )


def _filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, break_on_hyphens=False)


def _rows() -> Iterator[str]:
    makers: dict[str, list[str]] = {}
    for fault in faults().values():
        for code in fault.codes:
            makers.setdefault(code, []).append(f"`{fault.kind}`")
    yield "## The table\n"
    yield "| row | fault | a correct agent | seen | made by |\n|---|---|---|---|---|"
    for code, row in ROWS.items():
        made = ", ".join(makers.get(code, ["not made: below"]))
        cells = [code, row.fault, row.right, row.seen or "not in public", made]
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
    yield ""


def _not_made() -> Iterator[str]:
    yield "## What is not made\n"
    yield from (f"- **{code}** {ROWS[code].fault}: {why}" for code, why in NOT_MADE.items())
    yield "" if NOT_MADE else "Nothing.\n"


def main(docs: Path = DOCS) -> None:
    """Write the page."""
    write_page(docs / "faults.md", generated_faults())


if __name__ == "__main__":
    main()
