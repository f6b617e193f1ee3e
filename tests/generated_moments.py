"""The generated part of docs/moments.md: how often each moment comes in the catalogue, at least."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.generated_pages import DOCS, write_page
from tests.scenarios.moments import WIRES, Moment, moments


def generated_moments() -> str:
    """The table."""
    return "\n".join([*_head(), *map(_row, moments()), ""])


def _head() -> Iterator[str]:
    yield "| moment | what comes | runs |"
    yield "|---|---|---|"


def _row(moment: Moment) -> str:
    runs = min(moment.runs[wire] for wire in moment.wires)
    named = "" if {*moment.wires} >= {*WIRES} else f" ({', '.join(moment.wires)})"
    return f"| `{moment.name}` | {moment.words} | {runs}{named} |"


def main(docs: Path = DOCS) -> None:
    """Write the page."""
    write_page(docs / "moments.md", generated_moments())


if __name__ == "__main__":
    main()
