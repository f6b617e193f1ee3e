"""The generated part of docs/moments.md: how often each moment comes in the catalogue, by wire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.generated_pages import DOCS, write_page
from tests.scenarios.moments import WIRES, Moment, moments


def generated_moments() -> str:
    """The table."""
    return "\n".join([*_head(), *map(_row, moments()), ""])


def _head() -> Iterator[str]:
    yield "| moment | what comes | " + " | ".join(f"`{wire}`" for wire in WIRES) + " |"
    yield "|---|---|" + "---|" * len(WIRES)


def _row(moment: Moment) -> str:
    runs = (str(moment.runs[wire]) if wire in moment.wires else "-" for wire in WIRES)
    return f"| {' | '.join((f'`{moment.name}`', moment.words, *runs))} |"


def main(docs: Path = DOCS) -> None:
    """Write the page."""
    write_page(docs / "moments.md", generated_moments())


if __name__ == "__main__":
    main()
