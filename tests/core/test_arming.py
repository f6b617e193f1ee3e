from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import FaultSpec, ToolScript
from harness.core.transition.arming import ArmedFault, bend_all
from harness.core.transition.ports import Moment
from harness.core.values.calls import ToolRequest
from harness.core.values.plans import Plan, Wait
from tests.core import world


def firings(calls: int = 8, *, purposes: dict[int, str] | None = None, **knobs: Any) -> list[int]:
    """The numbers of the model calls that an armed fault changed."""
    run = world.run(fault={"kind": "transport.latency", "wait_s": 1, **knobs}, seed=3)
    for number in range(1, calls + 1):
        purpose = (purposes or {}).get(number, "main")
        world.ask(run, headers={"x-harness-purpose": purpose})
    return [n for n, a in enumerate(world.answers(run), start=1) if a.faults]


@pytest.mark.parametrize(
    ("knobs", "fired"),
    [
        ({}, [1]),
        ({"when": 3}, [3]),
        ({"when": 3, "often": 2}, [3, 4]),
        ({"when": 3, "often": "forever"}, [3, 4, 5, 6, 7, 8]),
        ({"when": 3, "then": "same"}, [3, 4, 5, 6, 7, 8]),
        ({"when": [2, 5]}, [2, 5]),
        ({"when": [2, 5], "often": 1}, [2]),
        ({"when": {"after": 6}}, [7]),
        ({"when": {"after": 6}, "often": "forever"}, [7, 8]),
        ({"when": {"after": "model#4"}}, [5]),
        ({"when": {"after": "main/model#4"}, "often": 2}, [5, 6]),
        ({"when": {"p": 1.0}}, [1]),
        ({"when": {"p": 1.0}, "often": "forever"}, [1, 2, 3, 4, 5, 6, 7, 8]),
        ({"when": {"p": 0.0}, "often": "forever"}, []),
        ({"when": 20}, []),
        ({"on": "tool"}, []),
    ],
)
def test_when_and_how_often(knobs: dict[str, Any], fired: list[int]) -> None:
    assert firings(**knobs) == fired


@pytest.mark.parametrize(("on", "fired"), [("main", [4]), ("compact", [3]), ("model", [2])])
def test_on_counts_the_calls_that_it_names(on: str, fired: list[int]) -> None:
    purposes = {1: "main", 2: "compact", 3: "compact", 4: "main"}
    assert firings(4, purposes=purposes, on=on, when=2) == fired


def test_on_a_tool_counts_that_tool() -> None:
    run = world.run(
        fault={"kind": "tools.empty", "on": "tool:b", "when": 2},
        tools={"a": ToolScript(), "b": ToolScript()},
    )
    for number, name in enumerate("abaab"):
        run.tool(ToolRequest(str(number), name, {}), 0)
    assert [bool(a.faults) for a in world.answers(run)] == [False] * 4 + [True]


@pytest.mark.parametrize(
    ("then", "waits"), [("same", [1000] * 4), ("escalate", [1000, 2000, 4000, 8000])]
)
def test_only_what_escalates_gets_harder(then: str, waits: list[int]) -> None:
    run = world.run(fault={"kind": "transport.latency", "wait_s": 1, "then": then})
    plans = [world.ask(run) for _ in waits]
    assert [step.ms for plan in plans for step in plan if isinstance(step, Wait)] == waits


def test_a_fault_that_was_owed_and_never_fired_is_silent() -> None:
    def armed(**knobs: Any) -> ArmedFault:
        run = world.run(fault={"kind": "transport.latency", **knobs})
        world.ask(run)
        return run.faults[0]

    assert not armed().silent
    assert armed(when=2).silent
    assert not armed(when=2, must_fire=False).silent


def test_the_identity_does_not_count_as_fired() -> None:
    run = world.run(fault={"kind": "sse.no_message_stop", "when": {"after": 0}})
    assert world.said(world.ask(run))[0] == 200
    assert run.faults[0].silent
    world.ask(run, stream=True)
    assert not run.faults[0].silent
    assert [a.complete for a in world.answers(run)] == [True, False]


def test_adding_a_fault_never_moves_the_draws_of_another() -> None:
    def late(*specs: dict[str, Any]) -> list[bool]:
        run = world.run_with(specs, seed=5)
        for _ in range(40):
            world.ask(run)
        return ["transport.latency" in a.faults for a in world.answers(run)]

    one = {"kind": "transport.latency", "when": {"p": 0.3}, "often": "forever"}
    other = {"kind": "http.status", "when": {"p": 0.5}, "often": "forever"}
    alone = late(one)
    assert 0 < sum(alone) < 40
    assert late(other, one) == alone
    assert late(one, other) == alone


def test_faults_bend_from_left_to_right() -> None:
    def adds(ms: int) -> ArmedFault:
        def fault(moment: Moment, plan: Plan) -> Plan:
            return (*plan, Wait(ms))

        return ArmedFault(FaultSpec(kind=f"x.{ms}"), fault, "bytes")

    run = world.run()
    world.ask(run)
    call = world.call_of(run)
    plan, changed = bend_all([adds(1), adds(2)], "bytes", call, run.history, run.draws, ())
    assert plan == (Wait(1), Wait(2))
    assert changed == ("x.1", "x.2")
    assert bend_all([adds(1)], "value", call, run.history, run.draws, ()) == ((), ())


@pytest.mark.parametrize(
    "when", [0, [0], True, {}, {"p": 2}, {"after": -1}, {"after": "x"}, {"p": 0.1, "after": 1}, "3"]
)
def test_a_when_that_cannot_be(when: Any) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"kind": "x", "when": when}, FaultSpec)
