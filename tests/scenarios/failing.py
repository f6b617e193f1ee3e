"""Which wrong agent fails a scenario: a scenario that every agent passes proves nothing.

`python -m tests.scenarios.failing` looks for one for each scenario outside of the seeds' own (these
have mutants made for them) and writes `failing.json`: scenario -> run, agent, finding. An agent
that is in the table already is tried first, then the naive one of the examples, then the mutants:
those made for the scenario, those of its folder, all others. The first is taken that breaks a check
which the scenario names in `expect.must`, else the first that fails. With names, as in
`python -m tests.scenarios.failing NAME ...`, it looks for these only. It exits with 1 when every
agent passes a scenario.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.runner import run
from tests import mutants
from tests.scenarios.all_runs import all_runs, is_of_the_seeds

FILE = Path(__file__).with_name("failing.json")

NAIVE = "examples.naive_agent:agent"

NO_PROOF = ("run.", "target.", "script.", "cassette.")
"""Findings that an agent may have which never came as far as the scenario's point. An agent that
asks no model, such as one on another API, proves nothing by its other findings either."""

COUNTED = ("expect.", "limit.")
"""Findings that hold for one scenario only."""


class Pair(msgspec.Struct, frozen=True):
    """A run, the target of an agent that fails it, and what is found."""

    run: str
    agent: str
    finding: str


@cache
def table() -> dict[str, Pair]:
    """The pairs as stored, by scenario."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, Pair]) if FILE.exists() else {}


def catalogue() -> dict[str, list[Scenario]]:
    """The runs of each scenario outside of the seeds' own, on Anthropic's wire where it has it."""
    found: dict[str, list[Scenario]] = {}
    for scenario in all_runs():
        if not is_of_the_seeds(scenario):
            found.setdefault(scenario.name, []).append(scenario)
    for name, runs in found.items():
        spoken = [s for s in runs if s.wire == "anthropic"] or runs
        found[name] = [s for s in spoken if not s.stream] + [s for s in spoken if s.stream]
    return found


def agent_of(target: str) -> Callable[..., object]:
    """The agent that a target names."""
    module, _, name = target.partition(":")
    agent: Callable[..., object] = getattr(importlib.import_module(module), name)
    return agent


def findings(scenario: Scenario, target: str) -> list[str]:
    """The codes of what a wrong agent does wrong in a run: those that the scenario is for come
    first, then those of other invariants."""
    found = run(scenario, agent_of(target)).verdict.findings
    if any(f.code == "run.nothing_intercepted" for f in found):
        return []
    codes = [f.code for f in found if not f.code.startswith(NO_PROOF)]
    return sorted(codes, key=lambda code: (not is_meant(scenario, code), code.startswith(COUNTED)))


def is_meant(scenario: Scenario, code: str) -> bool:
    """Whether the scenario is for the check of a finding; any will do when it names none."""
    return not scenario.expect.must or code.partition(".")[0] in scenario.expect.must


def wrong_agents(runs: list[Scenario]) -> Iterator[str]:
    """The targets of the wrong agents, the most likely first."""
    name, folder = runs[0].name, runs[0].folder
    if name in table():
        yield table()[name].agent
    yield NAIVE
    folders = {scenario.name: scenario.folder for scenario in all_runs()}
    made_for = {wrong.target: m.scenario.split("/")[0] for _, m, wrong in mutants.every()}
    near = {target: (of != name, folders.get(of) != folder) for target, of in made_for.items()}
    yield from sorted(near, key=lambda target: near[target])


def pair_for(runs: list[Scenario]) -> Pair | None:
    """The first wrong agent that fails a run as it should, else any; None when all pass."""
    other = None
    for target in dict.fromkeys(wrong_agents(runs)):
        for scenario in runs:
            if found := findings(scenario, target):
                pair = Pair(scenario.run_name, target, found[0])
                if is_meant(scenario, found[0]):
                    return pair
                other = other or pair
    return other


def main(names: list[str]) -> int:
    """Look for the pairs and write them; 1 when a scenario has none."""
    known = catalogue()
    pairs = {name: pair for name, pair in table().items() if name in known}
    for name in names or known:
        pair = pair_for(known[name])
        pairs.pop(name, None)
        if pair is None:
            print(f"no agent fails {name} ({known[name][0].folder})", flush=True)
        else:
            pairs[name] = pair
    rows = {name: msgspec.to_builtins(pairs[name]) for name in sorted(pairs)}
    FILE.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(name in pairs for name in names or known) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
