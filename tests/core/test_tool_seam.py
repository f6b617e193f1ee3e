from __future__ import annotations

import pytest

from harness.core.history.history import History
from harness.core.scenario.scenario import Limits, ToolTurn
from harness.core.transition.limits import STOP, limit_text
from harness.core.transition.tool_seam import SPREAD_MS, meant_call, spread, tool_plan
from harness.core.values.calls import Call, ModelRequest, ToolRequest
from harness.core.values.draws import Draws
from harness.core.values.messages import ToolUse, assistant
from harness.core.values.plans import Answer, Effect, Plan, Raise, ToolAnswer, Wait
from harness.core.values.tool_names import ToolNames


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


def test_a_limit_in_words() -> None:
    assert (
        limit_text("virtual_s", Limits()) == "loop-harness: the limit virtual_s = 86400 is reached"
    )


TWO = assistant(ToolUse("a", "t", {}), ToolUse("b", "t", {}))


@pytest.mark.parametrize(
    "plan",
    [
        (Wait(5), Answer(ToolAnswer("x"))),
        (Raise("tool", "boom"),),
        (Effect("e", "k"), Raise("tool", "boom")),
        (),
    ],
)
def test_a_plan_that_waits_or_has_no_answer_is_not_spread(plan: Plan) -> None:
    history = History()
    history.answered("main/model#1", "model", session="main", blocks=history.note(TWO))
    call = Call("main/tool#1", "tool", 1, "main", 1, 0, ToolRequest("a", "t", {}))
    assert spread(plan, history, call, Draws(1)) == plan
    wait, answer = spread((Answer(ToolAnswer("x")),), history, call, Draws(1))
    assert isinstance(wait, Wait)
    assert 1 <= wait.ms <= SPREAD_MS
    assert answer == Answer(ToolAnswer("x"))


def test_a_run_without_an_id_may_be_of_a_sub_agents_call() -> None:
    history = History()
    asked = ToolRequest("", "t", {})
    for session, id in (("main", "a"), ("child", "b")):
        parent = "main" if session == "child" else ""
        key, asks = f"{session}/model#1", ModelRequest("any", ())
        history.called(key=key, seam="model", request=asks, session=session, parent=parent)
        said = history.note(assistant(ToolUse(id, "task" if id == "a" else "t", {})))
        history.answered(key, "model", session=session, blocks=said)
    assert meant_call(history, ToolNames(), asked, "") == "b"
    assert meant_call(history, ToolNames(), asked, "main") == "call_1"
