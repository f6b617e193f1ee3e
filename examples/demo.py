"""`make demo`: the main job in a few seconds.

The reference agent goes through every scenario and passes; then wrong agents, each with one defect
that a production system really had, go through the scenario of their incident and fail, each with
the finding made for it and the event that proves it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from harness.agent import agent as reference
from harness.load import find_scenarios, load_scenarios
from harness.report.events import event_line
from harness.runner import Run, run
from tests import mutants
from tests.mutants.__main__ import is_killed, scenarios

ROOT = Path(__file__).parents[1]


def reference_runs() -> list[Run]:
    """The reference agent on every variant of every scenario, streamed and not."""
    files = find_scenarios([ROOT / "scenarios"])
    return [
        run(s, reference, options={"stream": s.stream}) for f in files for s in load_scenarios(f)
    ]


def reference_table(runs: list[Run]) -> Table:
    """One line a scenario: how many of its runs pass, and what the agent did."""
    table = Table(title="The reference agent", title_justify="left")
    for column in ("scenario", "variants passed", "model calls", "tool calls"):
        table.add_column(column, overflow="fold")
    for name in dict.fromkeys(r.scenario.name for r in runs):
        mine = [r for r in runs if r.scenario.name == name]
        passed = sum(r.verdict.verdict == "pass" for r in mine)
        calls = [sum(r.history.past.calls[seam] for r in mine) for seam in ("model", "tool")]
        table.add_row(name, f"{passed} of {len(mine)}", *map(str, calls))
    return table


def mutant_table() -> tuple[Table, int]:
    """One line a mutant: the finding that kills it and the event that proves it."""
    table = Table(title="Wrong agents, one defect each", title_justify="left")
    for column in ("mutant", "scenario", "verdict", "finding", "proof"):
        table.add_column(column, overflow="fold")
    known, survivors = scenarios(), 0
    for name, mutant, module in mutants.every():
        result = run(known[mutant.scenario], module.agent)
        mine = [f for f in result.verdict.findings if is_killed(mutant, [f.code])]
        survivors += not mine
        proof = event_line(result.history, mine[0].events[-1]) if mine and mine[0].events else ""
        code = mine[0].code if mine else "SURVIVED"
        table.add_row(name, mutant.scenario, result.verdict.verdict, code, proof)
    return table, survivors


def main() -> int:
    """Print both tables; 1 when the reference agent fails or a mutant survives."""
    console = Console()
    runs = reference_runs()
    console.print(reference_table(runs))
    table, survivors = mutant_table()
    console.print(table)
    failed = [r.name for r in runs if r.verdict.verdict != "pass"]
    if failed or survivors:
        console.print(f"unexpected: {', '.join(failed) or 'no reference failure'}; {survivors} survive")
        return 1
    console.print(f"{len(runs)} runs of the reference agent pass; every mutant fails as it should.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
