"""`python -m tests.record_incidents`: rebuild three incidents of the seeds as recordings.

Each is a run of a mutant in its own scenario on virtual time, so every machine gets the same
history. `cassettes/incidents/` holds that history. It is written only when the run shows the
mutant's own finding.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from harness.core.history.history import encode
from harness.core.values.errors import InputError
from harness.files import load_scenarios
from harness.runner import Run, run
from tests import mutants
from tests.record_cassettes import ROOT, shows

FOLDER = ROOT / "cassettes" / "incidents"


class Rebuilt(msgspec.Struct, frozen=True):
    """What a recording is: a run of a mutant, for an incident of the seeds."""

    seed: str
    mutant: str

    @property
    def agent(self) -> Callable[..., Any]:
        """The agent that had the incident."""
        return mutants.named(self.mutant).agent

    @property
    def killed_by(self) -> str:
        """The finding that was made for it."""
        return mutants.named(self.mutant).mutant.killed_by

    @property
    def scenario(self) -> str:
        """The name of the run in which it shows."""
        return mutants.named(self.mutant).mutant.scenario


INCIDENTS = {
    "identical-failures": Rebuilt("the same failing call until the budget is gone", "no_breaker"),
    "empty-inputs": Rebuilt("calls with an empty input, again and again", "no_empty_input_breaker"),
    "replay-spiral": Rebuilt("turns that were delivered and never stored", "delivered_not_stored"),
}


def rebuild(name: str) -> Run:
    """Play an incident; raises InputError when the run does not show the mutant's finding."""
    rebuilt = INCIDENTS[name]
    (file,) = (ROOT / "scenarios").rglob(f"{rebuilt.scenario}.yaml")
    made = run(load_scenarios(file)[0], rebuilt.agent)
    if not shows(made, rebuilt.killed_by):
        raise InputError(f"the run does not show {rebuilt.killed_by}", name)
    return made


def path_of(name: str) -> Path:
    """Where the recording of an incident stands."""
    return FOLDER / f"{name}.history.jsonl"


def main() -> int:
    """Record all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in INCIDENTS:
        made = rebuild(name)
        path_of(name).write_bytes(encode(made.history.events))
        print(f"{path_of(name).relative_to(ROOT)}: {len(made.history.events)} events, {made.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
