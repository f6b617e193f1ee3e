"""`make demo`: the main job in a few seconds.

The reference agent goes through every scenario and passes; then wrong agents, each with one defect
that a production system really had, go through the scenario of their incident and fail, each with
the finding made for it and the event that proves it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.agent import agent as reference
from harness.core.verdict import Finding
from harness.load import find_scenarios, load_scenarios
from harness.report.events import lines
from harness.runner import Run, run
from tests import mutants
from tests.mutants.__main__ import is_killed, scenarios

ROOT = Path(__file__).parents[1]


def reference_runs() -> list[Run]:
    """The reference agent on every variant of every scenario, streamed and not."""
    files = find_scenarios([ROOT / "scenarios"])
    return [run(scenario, reference) for file in files for scenario in load_scenarios(file)]


def reference_rows(table: Table, runs: list[Run]) -> None:
    """One row a scenario: how many of its runs pass, and how much the agent did."""
    for name in dict.fromkeys(r.scenario.name for r in runs):
        mine = [r for r in runs if r.scenario.name == name]
        passed = sum(r.verdict.verdict == "pass" for r in mine)
        model, tool = (sum(r.history.past.calls[seam] for r in mine) for seam in ("model", "tool"))
        did = f"{passed} of {len(mine)} runs pass; {model} model calls, {tool} tool calls"
        table.add_row("pass" if passed == len(mine) else "FAIL", f"reference on {name}\n  {did}")


def mutant_rows(table: Table) -> int:
    """One row a mutant: the finding made for it and the event that proves it; how many survive."""
    known, survivors = scenarios(), 0
    for name, mutant, module in mutants.every():
        result = run(known[mutant.scenario], module.agent)
        mine = [f for f in result.verdict.findings if is_killed(mutant, [f.code])]
        survivors += not mine
        said = f"{mine[0].code}: {_proof(result, mine[0])}" if mine else "SURVIVED"
        said = f"{name} on {mutant.scenario}\n  {said}"
        table.add_row(result.verdict.verdict, escape(said))
    return survivors


def _proof(result: Run, finding: Finding) -> str:
    """The last of the events that prove a finding, in a line."""
    told = lines(result.history, finding.events)
    return f"event {max(told)}, {' '.join(told[max(told)].split())}" if told else finding.message


def main() -> int:
    """Print the table; 1 when the reference agent fails or a mutant survives."""
    console = Console()
    table = Table(title="The reference agent, and wrong agents with one defect each")
    table.add_column("verdict", no_wrap=True)
    table.add_column("agent and scenario; finding and proof", overflow="fold")
    runs = reference_runs()
    reference_rows(table, runs)
    table.add_section()
    survivors = mutant_rows(table)
    console.print(table)
    failed = [r.name for r in runs if r.verdict.verdict != "pass"]
    if failed or survivors:
        console.print(f"unexpected: fails {', '.join(failed) or '-'}; {survivors} mutants survive")
        return 1
    console.print(f"{len(runs)} runs of the reference agent pass; every mutant fails as it should.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
