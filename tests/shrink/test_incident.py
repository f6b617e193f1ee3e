"""A long incident: 500 turns, and somewhere in them a call that is repeated 40 times."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from examples.naive_agent import agent as naive
from harness.core.scenario.scenario import InboxItem, Limits, Scenario, ToolScript, ToolTurn, Turn
from harness.shrink import FindingOracle, shrink
from harness.shrink.scenario_size import extent, turns_of
from harness.targets.spec import of_callable

REPEATS = 40

RUNS_MAX = 150
"""Candidates that may be played; nearly all of them are short."""


def incident(turns: int) -> Scenario:
    """A coding agent reads one file after the other; of one it cannot get away."""
    return Scenario(
        name="long-incident",
        inbox=(InboxItem(text="Fix the failing test in this repository, please."),),
        tools={"read_file": ToolScript(description="Read a file", script=tuple(_outcomes(turns)))},
        script=tuple(_turns(turns)),
        limits=Limits(model_calls=turns + 100, tool_calls=turns + 100),
    )


def _turns(turns: int) -> Iterator[Turn]:
    for n in range(turns - 1):
        path = "app.yaml" if _is_repeat(n, turns) else f"src/module_{n}.py"
        yield Turn(
            blocks=(
                {"type": "text", "text": f"Let me look at {path}."},
                {"type": "tool_use", "name": "read_file", "input": {"path": path}},
            )
        )
    yield Turn(say="I could not find it.")


def _outcomes(turns: int) -> Iterator[ToolTurn]:
    for n in range(turns - 1):
        if _is_repeat(n, turns):
            yield ToolTurn(error="no such file: app.yaml")
        else:
            yield ToolTurn(ok=f"def function_{n}():\n    return {n}\n")


def _is_repeat(n: int, turns: int) -> bool:
    return 0 <= n - turns // 2 < REPEATS


@pytest.mark.parametrize("turns", [100, pytest.param(500, marks=pytest.mark.real)])
def test_a_repeated_call_becomes_one_turn_and_the_same_on_a_second_run(turns: int) -> None:
    scenario = incident(turns)
    assert len(turns_of(scenario)) == turns
    target = of_callable(naive)
    keeping = FindingOracle(scenario, target, "no_progress_stop.same_failure")
    played: list[int] = []

    def keeps(candidate: Scenario) -> bool:
        played.append(len(turns_of(candidate)))
        return keeping(candidate)

    first, runs = shrink(scenario, keeps), len(played)
    assert extent(first.scenario).turns <= 4
    assert first.minimal
    assert runs <= RUNS_MAX
    assert sum(played) <= 2 * turns
    again = shrink(scenario, keeps)
    assert msgspec.json.encode(again.scenario) == msgspec.json.encode(first.scenario)
    assert played[runs:] == played[:runs]
