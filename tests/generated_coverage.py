"""The generated part of docs/coverage.md: the public incidents, their scenarios, and the proof.

A scenario plays an incident by naming it in its `source` (`incidents:67`). The table
`tests/catalogue/covered.tsv` says which run and which finding proves that it is covered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from harness import providers
from harness.catalogue import INCIDENTS, PREFIX, Incident
from harness.files import find_scenarios, load_scenarios
from harness.targets.known import known
from tests.catalogue import proof_runs
from tests.catalogue.covered import covered
from tests.generated_pages import DOCS, write_page

ROOT = Path(__file__).parents[1]

HEADER = (
    "| incident | where | seen | scenarios | proof | APIs | programs |",
    "|---|---|---|---|---|---|---|",
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
    """The text, class by class."""
    count = Counter(row.status for row in covered().values())
    whole, part = count["faithful"], count["partial"]
    lines = [f"{whole} of {len(INCIDENTS)} incidents are covered, {part} in part. {_share()}\n"]
    for name, rows in by_kind().items():
        lines += [f"## {name}\n", *HEADER, *(_row(number) for number in sorted(rows)), ""]
    return "\n".join([*lines, *_shortfalls()])


def _share() -> str:
    """The proofs that play on each API, and those that a program can play."""
    runs = [row.run for row in covered().values() if row.run]
    wide = sum(set(proof_runs.wires_of(run)) >= {*providers.names()} for run in runs)
    played = sum(bool(proof_runs.programs_of(run)) for run in runs)
    told = f"Of {len(runs)} proofs, {wide} play on each API"
    return f"{told}, and {played} ({played / len(runs):.0%}) on a program that is known by name."


def _row(number: int) -> str:
    incident, row = INCIDENTS[number], covered()[number]
    names = covering().get(number, ())
    links = ", ".join(f"[{name}](../scenarios/{name}.yaml)" for name in names)
    where = incident.where.partition(" ")[0].rstrip(";,")
    proof = f"`{row.code}` in `{row.run}`" if row.code else ""
    if row.status != "faithful":
        proof = f"{proof} [{row.status}](#what-is-not-shown)".strip()
    cells = (str(number), where, incident.symptom, links, proof, *_players(row.run))
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _players(run: str) -> tuple[str, str]:
    """The APIs on which a proof plays, and the programs that can play it or what they lack."""
    if not run:
        return "", ""
    wires, programs = proof_runs.wires_of(run), proof_runs.programs_of(run)
    lacks = ", ".join(proof_runs.lacks_of(run)) or "real time"
    spoken = "all" if len(wires) == len(providers.names()) else ", ".join(wires)
    played = "all" if len(programs) == len(known()) else ", ".join(programs)
    return spoken, played or f"none: {lacks}"


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
