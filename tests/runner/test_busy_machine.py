"""Programs that compute beside the runs change no verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.core.scenario.scenario import InboxItem, Limits, Scenario, Turn
from harness.files import load_scenarios
from harness.runner import run
from tests.runner import programs
from tests.runner.programs import program
from tests.scenarios.all_runs import reference_for

pytestmark = pytest.mark.real
LIMITS = Path(__file__).parents[2] / "scenarios" / "limits"


@pytest.fixture
def load() -> Iterator[None]:
    """Two programs that compute for each processor."""
    command = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for child in busy:
        child.kill()
        child.wait()


def _verdicts() -> list[tuple[str, str]]:
    scenarios = [s for path in sorted(LIMITS.glob("*.yaml"))[:2] for s in load_scenarios(path)]
    return [(s.run_name, run(s, reference_for(s)).verdict.verdict) for s in scenarios]


@pytest.mark.usefixtures("load")
def test_the_reference_agent_passes_beside_a_load() -> None:
    verdicts = _verdicts()
    assert len(verdicts) > 4
    assert [name for name, verdict in verdicts if verdict != "pass"] == []


@pytest.mark.usefixtures("load")
def test_a_program_with_a_short_limit_passes_beside_a_load(tmp_path: Path) -> None:
    scenario = Scenario(
        name="hello",
        inbox=(InboxItem(text="hello"),),
        script=(Turn(say="Hello to you."),),
        limits=Limits(real_s=2.0),
    )
    assert run(scenario, program(tmp_path, programs.GREET)).verdict.verdict == "pass"
