"""The reference agent survives every fault of a stream, once and always."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from harness.core.scenario.scenario import Turn
from harness.faults import faults
from tests.faults.surviving import survive

ANSWER = Turn(say="Both are written.", times="forever", optional=True)
TWO = Turn(
    blocks=tuple({"type": "tool_use", "name": "write", "input": {"path": p}} for p in "ab"),
    optional=True,
)
MIXING = ("sse.calls_all_at_index_0", "sse.calls_by_turns", "sse.calls_in_one_chunk")
"""What mixes up two calls that come at once."""

WITHOUT_ARGUMENTS = Turn(
    blocks=({"type": "tool_use", "name": "write", "input": {}},), optional=True
)

SMILES = Turn(say="Done. \U0001f600", times="forever", optional=True)

WIRES = ("anthropic", "openai-chat", "openai-responses", "gemini")
MET = [
    (kind, wire)
    for kind, fault in faults().items()
    for wire in fault.wires or WIRES
    if kind.startswith("sse.")
]


EXPLAINED = {"sse.response_incomplete": "stream_error_handled.stored"}
"""The answer says itself that it is cut short, and the agent tells the user so. For the history the
connection ended before the answer was whole, for most clients cannot read it."""


def _tiers() -> list[ParameterSet]:
    """Gemini meets the faults of all wires in the slow tier."""
    slow = {(kind, "gemini") for kind, fault in faults().items() if not fault.wires}
    return [pytest.param(*m, marks=(pytest.mark.real,) if m in slow else ()) for m in MET]


@pytest.mark.parametrize("often", ["once", pytest.param("forever", marks=pytest.mark.real)])
@pytest.mark.parametrize(("kind", "wire"), _tiers())
def test_the_reference_agent_survives(kind: str, wire: str, often: str) -> None:
    plain = kind == "sse.stream_to_a_plain_request"
    fields = {"script": (TWO, ANSWER)} if kind in MIXING else {}
    if kind == "sse.surrogate_pair_split":
        fields = {"script": (SMILES,)}
    if kind == "sse.arguments_left_empty":
        fields = {"script": (WITHOUT_ARGUMENTS, ANSWER)}
    found = survive(kind, stream=not plain, often=often, fields={"wire": wire, **fields}, when=1)
    explained = EXPLAINED.get(kind, "-")
    assert [finding for finding in found if not finding.startswith(explained)] == []
