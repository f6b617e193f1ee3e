"""`python -m tests.mutants`: the kill matrix, mutants by scenarios.

Each mutant runs on its own scenario, where the finding made for it must appear, and on the
baselines of the headline scenarios. `python -m tests.mutants NAME ...` runs some of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import nearest
from harness.files import find_scenarios, load_scenarios
from harness.runner import run
from tests import mutants
from tests.mutants import Mutant

HEADLINES = ("empty-inputs", "identical-failures", "prompt-too-long", "replay-spiral")
"""The incidents on which each mutant is shown beside its own scenario."""

ROOT = Path(__file__).parents[2]


def scenarios() -> dict[str, Scenario]:
    """The runs of all scenario files by name."""
    files = find_scenarios([ROOT / "scenarios"])
    return {s.run_name: s for file in files for s in load_scenarios(file)}


def codes(agent: object, scenario: Scenario) -> list[str]:
    """The codes of the findings of a run, each once, in order."""
    assert callable(agent)
    found = run(scenario, agent).verdict.findings
    return list(dict.fromkeys(finding.code for finding in found))


def is_killed(mutant: Mutant, found: list[str]) -> bool:
    """Whether the finding made for the mutant is among the codes; a check stands for its rules."""
    return any(c == mutant.killed_by or c.startswith(f"{mutant.killed_by}.") for c in found)


def main(names: list[str]) -> int:
    """Print the matrix; 1 if a mutant survives its own scenario, 2 for an unknown name."""
    every = [*mutants.every()]
    for name in names:
        if name not in (agents := {each for each, _, _ in every}):
            print(f"there is no wrong agent {name!r}; {nearest(name, agents)}", file=sys.stderr)
            return 2
    known = scenarios()
    survivors = 0
    for name, mutant, wrong in every:
        if names and name not in names:
            continue
        killed = is_killed(mutant, codes(wrong.agent, known[mutant.scenario]))
        survivors += not killed
        word = "killed  " if killed else "SURVIVED"
        print(f"{word} {name:34} by {mutant.killed_by:32} on {mutant.scenario}", flush=True)
        for other in HEADLINES:
            found = codes(wrong.agent, known[other])
            print(f"           {other:24} {', '.join(found) or '-'}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
