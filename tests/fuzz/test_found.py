"""What campaigns have found on the reference agent, repaired since: each file is one finding.

Some were the agent's, others a check's: what a fault did to the files, or a kill to what was under
way, is not the agent's doing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.files.scenario_file import load_scenarios
from harness.runner import run
from harness.targets.spec import resolve

FOUND = sorted((Path(__file__).parent / "found").glob("*.yaml"))


WAYS = [
    pytest.param(path, target, id=f"{path.stem}-{target}", marks=marks)
    for place, path in enumerate(FOUND)
    for target, marks in (
        ("reference", pytest.mark.real),
        ("reference?client=plain", pytest.mark.real if place % 2 else ()),
    )
]


@pytest.mark.parametrize(("path", "target"), WAYS)
def test_nothing_is_found_any_more(path: Path, target: str) -> None:
    """The reference agent passes, with the SDK and without."""
    for scenario in load_scenarios(path):
        played = run(scenario, resolve(target))
        assert played.verdict.findings == (), played.verdict.findings
