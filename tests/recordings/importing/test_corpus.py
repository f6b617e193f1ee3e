"""Real recordings, where they are available: each becomes a scenario that the reference agent
passes.

The loops among them are found again in an agent without a breaker.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.naive_agent import agent as naive
from harness.agent import agent as reference
from harness.checks.loops import no_progress_stop
from harness.cli.scenario_import import ImportRequest
from harness.core.scenario.scenario import Scenario
from harness.files import load_scenarios
from harness.files.recording_file import read_recording
from harness.recordings.transcript_history import to_history
from harness.runner import run
from tests.mutants.no_breaker import agent as no_breaker
from tests.recordings.imports import import_file

_BESIDE = Path(__file__).parents[4] / "shared" / "corpus"


@pytest.fixture(scope="module")
def corpus() -> Path:
    """The folder of the corpus."""
    folder = Path(os.environ.get("LOOP_HARNESS_CORPUS") or _BESIDE)
    if not folder.is_dir():
        pytest.skip("no corpus of recordings: set LOOP_HARNESS_CORPUS to its folder")
    return folder


def _imported(file: Path, folder: Path, number: int, transcript: str = "") -> Scenario:
    asked = ImportRequest(file=file, name=f"it-{number}", out=folder, transcript=transcript)
    (scenario,) = load_scenarios(import_file(asked).scenario)
    return scenario


@pytest.mark.real
def test_every_session_log_becomes_a_scenario_that_a_correct_agent_passes(
    corpus: Path, tmp_path: Path
) -> None:
    """Three of the sessions go on for more than fifty requests in a turn."""
    endless = 0
    for number, file in enumerate(sorted((corpus / "claude_code_jsonl").rglob("*.jsonl"))):
        scenario = _imported(file, tmp_path, number)
        assert run(scenario, reference).verdict.verdict == "pass", file.name
        codes = {finding.code for finding in run(scenario, no_breaker).verdict.findings}
        assert codes <= {"bounded_turn.requests"}, file.name
        endless += bool(codes)
    assert endless == 3


def _loops(file: Path) -> Iterator[str]:
    for transcript in read_recording(file).transcripts:
        if any(no_progress_stop(to_history(transcript))):
            yield transcript.name


def test_the_loops_of_real_agents_are_loops_again(corpus: Path, tmp_path: Path) -> None:
    """A file of a benchmark: the same command again and again, with the same answer."""
    file = next((corpus / "traj").rglob("*bash__gpt-4__ic_bash_multiturn_gpt-4_10_turns*"))
    found = 0
    for number, name in enumerate(_loops(file)):
        scenario = _imported(file, tmp_path, number, name)
        assert run(scenario, reference).verdict.verdict == "pass", name
        codes = {finding.check for finding in run(scenario, naive).verdict.findings}
        found += "no_progress_stop" in codes
    assert found >= 6
