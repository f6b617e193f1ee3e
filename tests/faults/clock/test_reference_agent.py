"""The reference agent under every clock fault, once and always: no check has a finding."""

from __future__ import annotations

from typing import Any

import pytest

from harness.faults import faults
from tests.faults.surviving import survive

KINDS = [kind for kind in faults() if kind.startswith("clock.")]

SILENT = {"clock.frozen": "the agent never waits, so the clock has nothing to hide"}


@pytest.mark.parametrize("often", ["once", pytest.param("forever", marks=pytest.mark.real)])
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_agent_survives(kind: str, stream: bool, often: Any) -> None:
    when = 1 if kind == "clock.overloaded_until" else 2
    found = survive(kind, stream=stream, often=often, when=when)
    silent = kind in SILENT or (kind == "clock.laptop_sleep" and not stream)
    assert found == (["silent"] if silent else [])
