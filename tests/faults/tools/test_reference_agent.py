"""The reference agent survives every tool fault, once and always, and reports it truthfully."""

from __future__ import annotations

import pytest

from harness.agent import agent as reference
from harness.agent.toolbox import ENDLESS, MAX_RESULT_CHARACTERS
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.faults import faults
from harness.runner import Run, run

TOOLS = [kind for kind in faults() if kind.startswith("tools.")]
ORDER = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}
DAYS_S = 10 * 86_400.0

ENDS = {"tools.raises_base", "tools.interrupts"}
"""What is not an `Exception` ends the agent, as it ends any program: it is not an error of a
tool."""


def _pays(order: int) -> Turn:
    return Turn(use="pay", input={"order": order}, optional=True)


def _told(kind: str, often: str) -> Run:
    """Two turns with three payments, of which the second one, or every one, is bent."""
    scenario = Scenario(
        name="payments",
        tools={
            "pay": ToolScript(
                input_schema=ORDER,
                script=(ToolTurn(ok="paid", effect="payment", times="forever"),),
            )
        },
        inbox=(InboxItem(text="Pay orders 1 and 2."), InboxItem(text="And order 3.")),
        script=(
            *(_pays(1), _pays(2), Turn(say="This is what came of orders 1 and 2.", optional=True)),
            *(_pays(3), Turn(say="This is what came of order 3.", optional=True)),
        ),
        faults=(FaultSpec(kind=kind, when=2 if often == "once" else 1, often=often),),
        limits=Limits(virtual_s=DAYS_S),
    )
    return run(scenario, reference)


@pytest.mark.parametrize("often", ["once", pytest.param("forever", marks=pytest.mark.real)])
@pytest.mark.parametrize("kind", TOOLS)
def test_the_reference_agent_survives(kind: str, often: str) -> None:
    verdict = _told(kind, often).verdict
    codes = [finding.code for finding in verdict.findings]
    if kind in ENDS:
        assert codes == ["target.crashed", "run.undelivered"]
    else:
        assert (codes, verdict.doubts) == ([], ())


def test_a_restart_by_a_tool_is_not_done_again() -> None:
    told = _told("tools.kills_agent", "once")
    effects = [e for e in told.history.events if type(e).__name__ == "Effected"]
    assert [e.name for e in effects].count("restart") == 1
    assert [e.attempt for e in told.history.trace.starts] == [0, 1]


def test_an_answer_without_an_end_is_cut() -> None:
    told = _told("tools.endless", "once")
    texts = [r.text for m in told.history.messages.values() for r in m.tool_results]
    (cut,) = [text for text in texts if text.startswith("and so on")]
    assert cut.endswith(ENDLESS)
    assert len(cut) == MAX_RESULT_CHARACTERS
