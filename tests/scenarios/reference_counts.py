"""How our own agent plays the catalogue, to the last call: its outcome, and the calls of each seam.

That is its policy and no law, so it stands in a table here and in no scenario:

    python -m tests.scenarios.reference_counts [NAME ...]

plays all runs, or those of the scenarios that are named, and writes the table again. A row without
wire and `+stream` holds for all runs of its variant that have no row of their own.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

from harness.core.scenario.scenario import Scenario
from harness.runner import Run, run
from tests.scenarios.all_runs import all_runs, reference_for

TABLE = Path(__file__).with_name("reference_counts.tsv")
COLUMNS = ("run", "outcome", "main", "compact", "aux", "tools")


def counts_of(played: Run) -> dict[str, str]:
    """The row of a run, without its name."""
    past = played.history.past
    tools = (f"{name}={times}" for name, times in sorted(past.tool_calls.items()))
    purposes = {p: str(past.purpose_calls[p]) for p in ("main", "compact", "aux")}
    return {"outcome": played.verdict.outcome, **purposes, "tools": " ".join(tools)}


def expected(scenario: Scenario) -> Mapping[str, str] | None:
    """The row of the table for a run, without its name; None if the table has none."""
    rows = _rows()
    return rows.get(scenario.run_name) or rows.get(_variant(scenario))


@cache
def _rows() -> dict[str, dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file, delimiter="\t"))
    return {row["run"]: {k: v for k, v in row.items() if k != "run"} for row in found}


def _variant(scenario: Scenario) -> str:
    return f"{scenario.name}/{scenario.variant}" if scenario.variant else scenario.name


def names() -> set[str]:
    """The names in the table."""
    return set(_rows())


def _made(wanted: Collection[str]) -> Iterator[dict[str, str]]:
    """The rows: of each variant its first run, and the runs that differ from it."""
    variants: dict[str, dict[str, dict[str, str]]] = {}
    for scenario in all_runs():
        if wanted and scenario.name not in wanted:
            continue
        row = counts_of(run(scenario, reference_for(scenario)))
        variants.setdefault(_variant(scenario), {})[scenario.run_name] = row
    for variant, runs in sorted(variants.items()):
        first = next(iter(runs.values()))
        yield {"run": variant, **first}
        for name, row in sorted(runs.items()):
            if row != first:
                yield {"run": name, **row}


def _scenario(run: str) -> str:
    return _first(run).partition("/")[0]


def write(wanted: Collection[str]) -> None:
    """Write the table again once all runs are played: a command cut off changes nothing."""
    kept = [{"run": run, **row} for run, row in _rows().items() if _scenario(run) not in wanted]
    rows = [*(kept if wanted else ()), *_made(wanted)]
    rows.sort(key=lambda row: (_first(row["run"]), row["run"]))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _first(run: str) -> str:
    """The variant of a run, by which the rows stand."""
    return run.partition("@")[0].partition("+")[0]


if __name__ == "__main__":
    write(sys.argv[1:])
