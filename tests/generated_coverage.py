"""The generated part of docs/coverage.md: the public incidents, their scenarios, and the proof.

A scenario plays an incident by naming it in its `source` (`incidents:67`). The table
`tests/catalogue/covered.tsv` says which run and which finding proves that it is covered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from harness import providers
from harness.catalogue import INCIDENTS, PREFIX, Incident
from harness.files import find_scenarios, load_scenarios
from tests.catalogue import proof_runs
from tests.catalogue.covered import covered
from tests.generated_pages import DOCS, write_page

ROOT = Path(__file__).parents[1]

HEADER = (
    "| kind | incidents | covered | scenarios | on each API | on a program |",
    "|---|---|---|---|---|---|",
)


def by_kind() -> dict[str, dict[int, Incident]]:
    """The incidents by kind, in the order of the file."""
    found: dict[str, dict[int, Incident]] = {}
    for number, row in INCIDENTS.items():
        found.setdefault(row.kind, {})[number] = row
    return found


@cache
def covering() -> dict[int, tuple[str, ...]]:
    """The scenario files, without their ending, that name each incident."""
    found: dict[int, set[str]] = defaultdict(set)
    for path in find_scenarios([ROOT / "scenarios"]):
        name = path.relative_to(ROOT / "scenarios").with_suffix("").as_posix()
        for scenario in load_scenarios(path):
            for source in scenario.source:
                if source.startswith(PREFIX):
                    found[int(source.removeprefix(PREFIX))].add(name)
    return {number: tuple(sorted(names)) for number, names in sorted(found.items())}


def generated_coverage() -> str:
    """The text: a row for each kind, and what the runs do not show."""
    count = Counter(row.status for row in covered().values())
    whole, part = count["faithful"], count["partial"]
    told = f"{whole} of {len(INCIDENTS)} incidents are covered, {part} in part. {_share()}\n"
    rows = (_row(kind, sorted(numbers)) for kind, numbers in by_kind().items())
    return "\n".join([told, *HEADER, *rows, "", *_shortfalls()])


def _share() -> str:
    """The proofs that play on each API, and those that a program can play."""
    wide, played, runs = _players([*INCIDENTS])
    told = f"Of {runs} proofs, {wide} play on each API"
    return f"{told}, and {played} ({played / runs:.0%}) on a program that is known by name."


def _row(kind: str, numbers: list[int]) -> str:
    """The incidents of a kind: how many are shown, by how many scenarios, and where they play."""
    whole = sum(covered()[number].status == "faithful" for number in numbers)
    files = {name for number in numbers for name in covering().get(number, ())}
    wide, played, _ = _players(numbers)
    spans = ", ".join(_spans(numbers))
    return f"| {kind} | {spans} | {whole} of {len(numbers)} | {len(files)} | {wide} | {played} |"


def _spans(numbers: list[int]) -> Iterator[str]:
    """Ascending numbers as spans, such as `1-40`."""
    for _, group in groupby(enumerate(numbers), lambda item: item[1] - item[0]):
        first, *rest = [number for _, number in group]
        yield f"{first}-{rest[-1]}" if rest else str(first)


def _players(numbers: list[int]) -> tuple[int, int, int]:
    """Of the proofs: how many play on each API, on a program that is known, and all."""
    runs = [covered()[number].run for number in numbers if covered()[number].run]
    wide = sum({*proof_runs.wires_of(run)} >= {*providers.names()} for run in runs)
    return wide, sum(bool(proof_runs.programs_of(run)) for run in runs), len(runs)


def _shortfalls() -> Iterator[str]:
    yield "## What is not shown\n"
    for number, row in sorted(covered().items()):
        if row.reason:
            yield f"- **{number}** ({row.status}) {INCIDENTS[number].symptom}: {row.reason}"
    yield ""


def main(docs: Path = DOCS) -> None:
    """Write the page."""
    write_page(docs / "coverage.md", generated_coverage())


if __name__ == "__main__":
    main()
