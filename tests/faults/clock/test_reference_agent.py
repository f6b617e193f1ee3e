"""The reference agent under every clock fault, once and always: no check has a finding."""

from __future__ import annotations

from typing import Any

import pytest

from harness.faults import faults
from tests.faults.surviving import survive

KINDS = [kind for kind in faults() if kind.startswith("clock.")]


@pytest.mark.parametrize("often", ["once", pytest.param("forever", marks=pytest.mark.real)])
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_agent_survives(kind: str, stream: bool, often: Any) -> None:
    when = 1 if kind == "clock.overloaded_until" else 2
    found = survive(kind, stream=stream, often=often, when=when)
    # Time passes between messages alone, so a clock that freezes at one call has nothing to hide.
    silent = kind == "clock.frozen" and often == "once"
    silent = silent or (kind == "clock.laptop_sleep" and not stream)
    assert found == (["silent"] if silent else [])
