"""`python -m tests.record_cassettes`: record the four headline cassettes again.

Each is a mutant in its own scenario, in real time over loopback, recorded by vcrpy. The
files in `cassettes/` are written only when the run shows the finding that was made for the mutant.
`python -m tests.record_cassettes NAME ...` records some of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from harness.cassettes.client_listener import recording
from harness.core.scenario.scenario import CassetteScript, Scenario
from harness.core.values.errors import InputError
from harness.files import find_scenarios, load_scenarios
from harness.runner import Run, run
from tests import mutants

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "cassettes"


class Headline(msgspec.Struct, frozen=True):
    """What a cassette is a recording of: a run of a mutant."""

    scenario: str
    mutant: str

    def agent(self) -> object:
        """The mutant's agent."""
        return mutants.named(self.mutant).agent

    def killed_by(self) -> str:
        """The finding that was made for the mutant."""
        return mutants.named(self.mutant).mutant.killed_by


HEADLINES = {
    "empty-inputs": Headline("empty-inputs+stream", "no_breaker"),
    "identical-failures": Headline("identical-failures", "no_breaker"),
    "prompt-too-long": Headline("prompt-too-long/compacted-still-too-long", "compacts_twice"),
    "replay-spiral": Headline("replay-spiral", "positional_cursor"),
}


def scenarios() -> dict[str, Scenario]:
    """The runs of all scenario files by name."""
    files = find_scenarios([ROOT / "scenarios"])
    return {s.run_name: s for file in files for s in load_scenarios(file)}


def played(scenario: Scenario, path: Path) -> Scenario:
    """The scenario with a cassette as its script; the recorded answers hold the faults already."""
    script, folders = CassetteScript(cassette=str(path)), (str(path.parent),)
    return msgspec.structs.replace(scenario, script=script, files_from=folders, faults=())


def shows(found: Run, code: str) -> bool:
    """Whether a run has a finding; a check's name takes its rules."""
    return any(f.code == code or f.check == code for f in found.verdict.findings)


def record(name: str, scenario: Scenario) -> Run:
    """Record a cassette; raises InputError when the run does not show the mutant's finding."""
    headline = HEADLINES[name]
    agent = headline.agent()
    assert callable(agent)
    path = FOLDER / f"{name}.yaml"
    with recording(path):
        made = run(scenario, agent, world="supervise")
        if not shows(made, headline.killed_by()):
            raise InputError(f"the run does not show {headline.killed_by()}", str(path))
    return made


def main(names: list[str]) -> int:
    """Record the cassettes; print what became of each."""
    known = scenarios()
    for name in names or HEADLINES:
        made = record(name, known[HEADLINES[name].scenario])
        size_kb = (FOLDER / f"{name}.yaml").stat().st_size / 1000
        calls = len(made.history.trace.exchanges)
        print(f"cassettes/{name}.yaml: {calls} calls, {size_kb:.0f} kB, {made.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
