"""What a run has reached: kinds of events, under the faults that had fired by then."""

from __future__ import annotations

import msgspec

from harness.agent import agent
from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, ToolScript, Turn
from harness.fuzz.novelty import not_asked, pairs
from harness.runner import run

PLAIN = Scenario(
    name="plain",
    tools={"ping": ToolScript()},
    inbox=(InboxItem(text="Hello"),),
    script=(*(Turn(use="ping", input={"n": n}) for n in range(3)), Turn(say="Done.")),
)


def test_a_run_reaches_kinds_of_events_and_how_often() -> None:
    reached = pairs(run(PLAIN, agent).history)
    assert len(reached) == len(set(reached))
    assert {fault for fault, _ in reached} == {""}
    kinds = {kind for _, kind in reached}
    assert {"ask main", "ask main x2", "ask main x4", "model answers tool_use"} <= kinds
    assert {"tool answers ok", "send final ok", "rows added", "ended returned"} <= kinds
    assert "ask main x8" not in kinds


def test_what_comes_after_a_fault_is_reached_under_it_and_what_came_before_is_not() -> None:
    fault = FaultSpec(kind="http.status", when=3, settings={"status": 500})
    reached = pairs(run(msgspec.structs.replace(PLAIN, faults=(fault,)), agent).history)
    assert ("http.status", "model answers 500") in reached
    assert ("http.status", "ended returned") in reached
    assert ("", "inbox answers ok") in reached
    assert ("http.status", "tool answers ok") in reached


def test_the_checks_that_need_a_seam_which_is_not_there_are_not_asked() -> None:
    bare = msgspec.structs.replace(PLAIN, tools={}, script=(Turn(say="Done."),))
    assert "tool_pairing" not in not_asked(run(PLAIN, agent).verdict)
    assert not_asked(run(bare, agent).verdict) != not_asked(run(PLAIN, agent).verdict)
