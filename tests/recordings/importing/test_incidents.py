"""The rebuilt incidents: the recording is the run's, and its scenario shows the defect again."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.agent import agent as reference
from harness.checks.judge import judge
from harness.cli.scenario_import import ImportRequest, ScenarioImport
from harness.core.history.history import canonical, decode, encode
from harness.files import load_scenarios
from harness.runner import run
from tests import mutants
from tests.record_cassettes import shows
from tests.record_incidents import FOLDER, INCIDENTS, path_of, rebuild
from tests.recordings.imports import import_file

_names = pytest.mark.parametrize("name", INCIDENTS)


def _import(name: str, folder: Path) -> ScenarioImport:
    return import_file(ImportRequest(file=path_of(name), name=name, out=folder))


@_names
def test_the_recording_is_that_of_the_run(name: str) -> None:
    kept = decode(path_of(name).read_bytes())
    made = decode(encode(rebuild(name).history.events))
    assert canonical(kept) == canonical(made), "make it again: python -m tests.record_incidents"
    codes = {f.code for f in judge(kept).findings} | {f.check for f in judge(kept).findings}
    assert INCIDENTS[name].killed_by in codes


@_names
def test_the_agent_that_had_it_has_it_again(name: str, tmp_path: Path) -> None:
    made = _import(name, tmp_path)
    assert any(code.startswith(INCIDENTS[name].killed_by) for code in made.findings)
    (scenario,) = load_scenarios(made.scenario)
    assert shows(run(scenario, INCIDENTS[name].agent), INCIDENTS[name].killed_by)


@_names
def test_a_mended_agent_has_it_not(name: str, tmp_path: Path) -> None:
    (scenario,) = load_scenarios(_import(name, tmp_path).scenario)
    verdict = run(scenario, reference).verdict
    assert (verdict.verdict, verdict.findings) == ("pass", ())


def test_the_table_names_every_recording() -> None:
    table = (FOLDER / "README.md").read_text("utf-8")
    for name, rebuilt in INCIDENTS.items():
        row = next(line for line in table.splitlines() if f"`{path_of(name).name}`" in line)
        for part in (rebuilt.seed, mutants.named(rebuilt.mutant).target, rebuilt.killed_by):
            assert part in row
    assert {path.name for path in FOLDER.glob("*.jsonl")} == {path_of(n).name for n in INCIDENTS}
