"""The guard on empty input: calls of a tool that needs arguments, with none."""

from __future__ import annotations

import pytest

from harness.agent.guards import EmptyInputGuard, Proceed
from harness.agent.guards.guard_protocol import needed_by
from harness.core.values.messages import Json, ToolSpec, ToolUse
from tests.agent.guards.steps import TICK, WRITE, step, steps

OPTIONAL = ToolSpec("list", input_schema={"type": "object", "properties": {"of": {}}})


def empty_guard() -> EmptyInputGuard:
    return EmptyInputGuard(needed_by((WRITE, TICK, OPTIONAL)))


EMPTY = ("write", {}, "never")


@pytest.mark.parametrize("given_input", [{}, None, "", {"__unparsedToolInput": '{"path": "/'}])
def test_empty_calls_are_guided_refused_and_end_the_turn(given_input: Json) -> None:
    words = steps(empty_guard(), [("write", given_input, "")] * 4)
    assert words == ["Refuse", "Refuse", "Refuse", "EndTurn"]


@pytest.mark.parametrize("given_input", [{"path": ""}, {"path": None}, {"other": 1}])
def test_a_call_with_something_in_it_is_not_empty(given_input: Json) -> None:
    assert steps(empty_guard(), [("write", given_input, "ok")] * 3) == ["Proceed"] * 3


@pytest.mark.parametrize("name", ["tick", "mcp__srv__tick", "list", "mcp__srv__list", "unknown"])
def test_tools_that_require_nothing_are_called_with_nothing(name: str) -> None:
    assert steps(empty_guard(), [(name, {}, "ok")] * 10) == ["Proceed"] * 10


def test_prefixed_and_bare_names_are_one_tool() -> None:
    prefixed = ("mcp__files__write", {}, "")
    assert steps(empty_guard(), [EMPTY, prefixed] * 2)[-1] == "EndTurn"


def test_a_call_of_another_tool_between_hides_nothing() -> None:
    words = steps(empty_guard(), [EMPTY, ("tick", {}, "ok")] * 4)
    assert words[-2] == "EndTurn"


def test_a_real_call_clears_the_count() -> None:
    guard = empty_guard()
    steps(guard, [EMPTY] * 3)
    assert step(guard, ("write", {"path": "a"}, "ok")) == ["Proceed"]
    assert steps(guard, [EMPTY] * 3) == ["Refuse"] * 3


def test_a_batch_of_empty_calls_is_one_thought() -> None:
    guard = empty_guard()
    assert step(guard, *[EMPTY] * 5) == ["Refuse"] * 5
    assert step(guard, *[EMPTY] * 5) == ["Refuse"] * 5


def test_guidance_names_what_is_missing_and_then_says_stop() -> None:
    guard = empty_guard()
    texts = []
    for _ in range(4):
        guard.begin_step()
        decision = guard.before(ToolUse("t", "write", {}))
        assert not isinstance(decision, Proceed)
        texts.append(decision.text)
    assert "path" in texts[0]
    assert texts[2].startswith("STOP")
    assert "write" in texts[3]
