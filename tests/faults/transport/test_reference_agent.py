"""The reference agent survives every fault of the layer, once and always."""

from __future__ import annotations

from typing import Any

import pytest

from harness.faults import faults
from tests.faults.surviving import survive, tiers_of

KINDS = [kind for kind in faults() if kind.startswith("transport.")]
OF_STREAMS = {
    "transport.one_segment",
    "transport.reset_mid_stream",
    "transport.stalled_stream",
    "transport.stalled_stream_with_pings",
}
"""A plain answer is one segment already, and has no events to stop between."""

KNOBS: list[dict[str, Any]] = [
    {},
    {"often": "forever"},
    {"then": "escalate"},
    {"when": {"p": 0.4}, "often": "forever"},
]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("knobs", tiers_of(KNOBS))
@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_agent_lives_through_it(
    kind: str, knobs: dict[str, Any], stream: bool
) -> None:
    found = survive(kind, stream=stream, **knobs)
    if kind in OF_STREAMS and not stream:
        assert found == ["silent"]
    else:
        assert found == [] or (found == ["silent"] and "p" in str(knobs))
