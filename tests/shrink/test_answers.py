"""Plain answers: a call goes where a word would do, and its tool with it."""

from __future__ import annotations

from harness.core.scenario.scenario import FaultSpec, InboxItem, Scenario, ToolScript, Turn
from harness.shrink import shrink
from harness.shrink.answers import PLAIN, plain_answers
from harness.shrink.measure import turns_of
from tests.shrink.drive import candidates, last

CALLS = Scenario(
    name="calls",
    inbox=(InboxItem(text="Look."),),
    tools={"look": ToolScript(), "ping": ToolScript()},
    script=(Turn(use="look", times=3), Turn(use="ping"), Turn(say="x", purpose="compact")),
)


def test_one_plain_answer_will_often_do() -> None:
    found = last(plain_answers(CALLS), lambda s: True)
    assert found == Scenario(name="calls", inbox=CALLS.inbox, script=(PLAIN,))


def test_else_each_turn_that_may_be_plain_is() -> None:
    found = last(plain_answers(CALLS), lambda s: "ping" in s.tools)
    assert found is not None
    assert turns_of(found) == (PLAIN, Turn(use="ping"), Turn(say="Yes.", purpose="compact"))
    assert list(found.tools) == ["ping"]


def test_a_tool_with_a_fault_on_it_stays() -> None:
    fault = FaultSpec(kind="tools.empty", on="tool:look")
    faulty = Scenario(name="f", tools=CALLS.tools, script=CALLS.script, faults=(fault,))
    first = candidates(plain_answers(faulty))[0]
    assert list(first.tools) == ["look"]


def test_a_call_that_does_not_matter_ends_as_a_word() -> None:
    two = shrink(CALLS, lambda s: len(turns_of(s)) >= 2 and bool(s.inbox)).scenario
    assert [turn.use for turn in turns_of(two)] == [None, None]
    assert two.tools == {}
