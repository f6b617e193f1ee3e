"""The transition and the tools: which turn of a tool is played, and which effects happen."""

from __future__ import annotations

from harness.core.scenario.scenario import ToolScript, ToolTurn
from harness.core.values.plans import Answer, Raise, ToolAnswer
from tests.core import world
from tests.core.tool_calls import tool


def test_a_tool_that_is_not_there_and_one_that_has_ended_say_so() -> None:
    run = world.run(tools={"t": ToolScript(script=(ToolTurn(ok="once"),))})
    assert tool(run) == (Answer(ToolAnswer("once")),)
    ended = "loop-harness: the script of tool 't' has ended"
    assert tool(run) == (Answer(ToolAnswer(ended, is_error=True)),)
    unknown = "loop-harness: no tool 'u' in the scenario"
    assert tool(run, "u") == (Answer(ToolAnswer(unknown, is_error=True)),)
    errors = [a.error for a in world.answers(run)]
    assert errors == ["", "script.exhausted", "tool.unknown"]


def test_an_effect_whose_answer_is_lost_happens_again_when_the_agent_tries_again() -> None:
    fault = {"kind": "tools.answer_lost", "on": "tool:pay"}
    pay = ToolScript(script=(ToolTurn(ok="paid", effect="payment", key="k1"),))
    run = world.run(fault=fault, tools={"t": ToolScript(), "pay": pay})
    tool(run)
    assert isinstance(tool(run, "pay")[-1], Raise)
    assert tool(run, "pay")[-1] == Answer(ToolAnswer("paid"))
    effects = [e for e in run.history.events if type(e).__name__ == "Effected"]
    assert [(e.name, e.idempotency_key) for e in effects] == [("payment", "k1")] * 2  # type: ignore[union-attr]
    assert [a.outcome for a in world.answers(run)] == ["ok", "timeout", "ok"]
    assert [a.script_turn for a in world.answers(run)] == [0, None, 0]


def test_a_scripted_raise_is_consumed() -> None:
    script = (ToolTurn(raises="boom"), ToolTurn(ok="fine"))
    run = world.run(tools={"t": ToolScript(script=script)})
    assert tool(run) == (Raise("tool", "boom"),)
    assert tool(run) == (Answer(ToolAnswer("fine")),)
    assert [(a.script_turn, a.complete) for a in world.answers(run)] == [(0, False), (1, True)]
