"""`make demo`: the main job in half a minute.

The reference agent goes through every scenario, on the first of its wires, and passes; then wrong
agents, each with one defect that a production system really had, go through the scenario of their
incident and fail, each with the finding made for it and the event that proves it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness import Finding, Run, event_lines, find_scenarios, load_scenarios, run
from harness.agent import agent as reference
from tests import mutants
from tests.mutants.__main__ import is_killed, scenarios

ROOT = Path(__file__).parents[1]


class Passed(NamedTuple):
    """One run of the reference agent, in short."""

    folder: str
    name: str
    passed: bool
    calls: Counter[str]


def reference_runs() -> Iterator[Passed]:
    """The reference agent on every variant of every scenario, on the first of its wires."""
    for file in find_scenarios([ROOT / "scenarios"]):
        scenarios = load_scenarios(file)
        for scenario in scenarios:
            if scenario.wire == scenarios[0].wire and scenario.stream == scenarios[0].stream:
                done = run(scenario, reference)
                passed = done.verdict.verdict == "pass"
                yield Passed(file.parent.name, done.name, passed, done.history.past.calls)


def reference_rows(table: Table, runs: list[Passed]) -> None:
    """One row a folder: how many of its runs pass, and how much the agent did."""
    for folder in dict.fromkeys(r.folder for r in runs):
        mine = [r for r in runs if r.folder == folder]
        passed = sum(r.passed for r in mine)
        model, tool = (sum(r.calls[seam] for r in mine) for seam in ("model", "tool"))
        did = f"{passed} of {len(mine)} runs pass; {model} model calls, {tool} tool calls"
        verdict = "pass" if passed == len(mine) else "FAIL"
        table.add_row(verdict, f"reference on scenarios/{folder}\n  {did}")


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
    told = event_lines(result.history, finding.events)
    return f"event {max(told)}, {' '.join(told[max(told)].split())}" if told else finding.message


def main() -> int:
    """Print the table; 1 when the reference agent fails or a mutant survives."""
    console = Console()
    table = Table(title="The reference agent, and wrong agents with one defect each")
    table.add_column("verdict", no_wrap=True)
    table.add_column("agent and scenario; finding and proof", overflow="fold")
    runs = list(reference_runs())
    reference_rows(table, runs)
    table.add_section()
    survivors = mutant_rows(table)
    console.print(table)
    failed = [r.name for r in runs if not r.passed]
    if failed or survivors:
        console.print(f"unexpected: fails {', '.join(failed) or '-'}; {survivors} mutants survive")
        return 1
    console.print(f"{len(runs)} runs of the reference agent pass; every mutant fails as it should.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
