from __future__ import annotations

import pytest

from harness.core.events import Answered, Effected
from harness.core.plans import Answer, Effect, Head, Plan, Raise, Send, ToolAnswer, Wait
from harness.core.scenario import Limits, ToolTurn
from harness.core.seams import STOP, limit_text, record_answer, tool_plan
from tests.core import world


@pytest.mark.parametrize(
    ("turn", "plan"),
    [
        (ToolTurn(ok="x"), (Answer(ToolAnswer("x")),)),
        (ToolTurn(bytes=2), (Answer(ToolAnswer("xx")),)),
        (ToolTurn(raises="boom"), (Raise("tool", "boom"),)),
        (ToolTurn(hang=1.5), (Wait(1500), Answer(ToolAnswer("ok")))),
        (ToolTurn(hang=2, error="late"), (Wait(2000), Answer(ToolAnswer("late", is_error=True)))),
        (ToolTurn(hang=True), (Wait(10_001), STOP)),
        (ToolTurn(effect="e", key="k"), (Effect("e", "k"), Answer(ToolAnswer("ok")))),
        (ToolTurn(effect="e", raises="x"), (Effect("e"), Raise("tool", "x"))),
        (ToolTurn(effect="e", hang=True), (Effect("e"), Wait(10_001), STOP)),
    ],
)
def test_a_tools_turn_as_steps(turn: ToolTurn, plan: Plan) -> None:
    assert tool_plan(turn, Limits(virtual_s=10)) == plan


def test_only_an_effect_before_the_end_of_a_plan_happens() -> None:
    run = world.run()
    world.ask(run)
    call = world.call_of(run)
    record_answer(run.history, call, (Effect("a"), Raise("timeout"), Effect("b")))
    assert [e.name for e in run.history.events if isinstance(e, Effected)] == ["a"]


def test_a_limit_in_words() -> None:
    assert (
        limit_text("virtual_s", Limits()) == "loop-harness: the limit virtual_s = 86400 is reached"
    )


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (429, {"retry-after": "30"}, "30"),
        (429, {"retry-after": "soon"}, "soon"),
        (529, {"retry-after": "30", "retry-after-ms": "20"}, "20 ms"),
        (503, {}, ""),
        (200, {"retry-after": "30"}, ""),
    ],
)
def test_what_an_error_asks_to_wait_is_told(
    status: int, headers: dict[str, str], told: str
) -> None:
    run = world.run()
    world.ask(run)
    record_answer(run.history, world.call_of(run), (Send(b"", Head(status, headers)),))
    answered = run.history.events[-1]
    assert isinstance(answered, Answered)
    assert answered.retry_after == told
