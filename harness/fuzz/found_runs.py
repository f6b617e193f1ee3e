"""The runs with findings, as files, before any shrinking.

A worker sends a run as text, and the campaign's process writes it, because a worker may be on
another machine. A kept session folder is moved from where the worker left it.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.files.regular_file import write_atomically
from harness.files.scenario_text import scenario_yaml
from harness.redaction.encoder import encoded
from harness.runner import Run, run_folder

FOUND = "found"
"""The folder of these runs in the folder of a campaign."""


class FoundRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run with findings; `kept` is its session folder, if it is kept."""

    example: int
    scenario: str
    history: bytes
    verdict: bytes
    kept: str = ""

    @classmethod
    def of(cls, example: int, scenario: Scenario, run: Run) -> FoundRun:
        """Return the run of an example as texts without secrets."""
        named = msgspec.structs.replace(
            scenario, name=f"example-{example}", title=f"Example {example} of a campaign"
        )
        return cls(
            example=example,
            scenario=scenario_yaml(named),
            history=b"".join(run_folder.history_lines(run.history)),
            verdict=run_folder.verdict_text(run.verdict),
            kept=str(run.kept or ""),
        )


def scenario_file(folder: Path, example: int) -> Path:
    """Return the path for the scenario of an example with a finding."""
    name = f"example-{example}"
    return folder / FOUND / name / f"{name}.yaml"


def write(folder: Path, found: FoundRun) -> None:
    """Write the files of a run; each is written atomically."""
    file = scenario_file(folder, found.example)
    write_atomically(file.with_name("history.jsonl"), found.history)
    write_atomically(file.with_name("verdict.json"), found.verdict)
    write_atomically(file, encoded(found.scenario))
    if found.kept:
        run_folder.move_kept(Path(found.kept), file.with_name(run_folder.SESSION))


def drop(found: FoundRun) -> None:
    """Remove the session folder of a run that is not written."""
    if found.kept:
        run_folder.drop_kept(Path(found.kept))
