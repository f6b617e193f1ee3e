"""The generated part of docs/coverage.md: which scenario covers which public incident.

A scenario covers an incident by naming it in its `source` (`incidents:67`). What no scenario covers
stands in `NOT_COVERED` with the reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from harness.catalogue import CLASSES, INCIDENTS, PREFIX
from harness.files import find_scenarios, load_scenarios

ROOT = Path(__file__).parents[1]

NOT_COVERED: dict[int, str] = {
    179: "a limit that the user configures, and that is off by one; how an agent is told its limit "
    "is its own affair, and a round too many is found by `bounded_turn` with that `max_requests`",
}
"""The incidents without a scenario, and why."""


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
    by_number = covering()
    lines = [f"{len(by_number)} of {len(INCIDENTS)} incidents have a scenario.\n"]
    for name, rows in CLASSES.items():
        lines += [f"## {name}\n", "| incident | where | seen | covered by |", "|---|---|---|---|"]
        for number in sorted(rows):
            lines.append(_row(number, by_number.get(number, ())))
        lines.append("")
    return "\n".join([*lines, *_not_covered()])


def _row(number: int, names: tuple[str, ...]) -> str:
    row = INCIDENTS[number]
    links = ", ".join(f"[{name}](../scenarios/{name}.yaml)" for name in names)
    where = row.where.partition(" ")[0].rstrip(";,")
    cells = (str(number), where, row.symptom, links or "[none](#without-a-scenario)")
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _not_covered() -> Iterator[str]:
    yield "## Without a scenario\n"
    for number, why in sorted(NOT_COVERED.items()):
        yield f"- **{number}** {INCIDENTS[number].symptom}: {why}"
    yield "" if NOT_COVERED else "None.\n"
