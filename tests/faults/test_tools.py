from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.core.plans import Answer, Effect, Plan, Raise, Reply, ToolAnswer, Wait
from harness.faults import tools
from tests.faults.world import bend

EFFECT, ANSWER = Effect("pay", "k"), Answer(ToolAnswer("paid"))
LOST = Raise("timeout", "the tool did not answer in time")


@pytest.mark.parametrize(
    ("fault", "bent"),
    [
        (tools.raises, (Raise("tool", "tool failure"),)),
        (tools.late, (Wait(3_600_000), EFFECT, ANSWER)),
        (tools.empty, (EFFECT, Answer(ToolAnswer("")))),
        (tools.answer_lost, (EFFECT, LOST)),
    ],
)
def test_what_becomes_of_a_tool_that_works(fault: Callable[..., Plan], bent: Plan) -> None:
    assert bend(fault, (EFFECT, ANSWER), seam="tool") == bent


@pytest.mark.parametrize("fault", [tools.raises, tools.late, tools.empty, tools.answer_lost])
def test_on_another_seam_a_tool_fault_is_the_identity(fault: Callable[..., Plan]) -> None:
    plan: Plan = (Answer(Reply()),)
    assert bend(fault, plan) == plan


def test_an_escalating_wait_doubles() -> None:
    assert bend(tools.late, (ANSWER,), seam="tool", firing=3, wait_s=1) == (Wait(4000), ANSWER)
